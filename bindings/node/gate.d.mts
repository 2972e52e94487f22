export * from "./gate.js";

// What build.mjs puts in.
declare const VERSION: string;
declare const MODULE_DIGEST: string;
declare const EXAMPLE: string;
declare module "*.css";

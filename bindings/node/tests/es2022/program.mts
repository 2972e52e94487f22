// Checked by `tsc --strict`, never run: the types need neither Node's nor a browser's, nor a newer language.
import { Engine, tokenKind, type Token } from "orbgate";

declare const location: { readonly href: string; readonly protocol: string };

const token: Token = { kind: tokenKind("user"), scopes: "" };
const engine = Engine.fromFile(location);
void engine.decide("GET", "/", token);
engine.close();

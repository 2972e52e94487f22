// Tokens have no place here: scopes are enough to decide, and a link is read by many.

export const REFUSED = "That looks like a token. Leave it out: the scopes of a token are enough here.";

/** Characters of each part of a token, at least. */
const PART = 8;

/**
 * Whether anything in a string looks like a token: three parts of base64url with dots between them, as signed and encrypted
 * tokens have; or a header and claims without a signature. One pass: an expression would go back and forth in megabytes of nonsense.
 */
export function hasToken(text: string): boolean {
  if (!text.includes(".")) {
    return false;
  }
  for (const word of text.split(/[^\w.-]/)) {
    let long = 0;
    let header = false;
    for (const part of word.includes(".") ? word.split(".") : []) {
      long = part.length >= PART ? long + 1 : 0;
      if (long === 3 || (header && part.length > 1)) {
        return true;
      }
      // The start of `{"`, encoded.
      header = part.length >= PART && part.includes("eyJ");
    }
  }
  return false;
}

/** The same for all strings in a value. */
export function hasTokenWithin(value: unknown): boolean {
  if (typeof value === "string") {
    return hasToken(value);
  }
  return typeof value === "object" && value !== null && Object.entries(value).some(([key, item]) => hasToken(key) || hasTokenWithin(item));
}

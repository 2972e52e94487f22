// The policy file that `orbgate explore` follows on disk; no request is made anywhere else.
const EVERY = 1_000;

/** Calls with each new text of the file, until the function that it returns is called. */
export function follow(changed: (text: string) => void): () => void {
  const url = document.querySelector<HTMLMetaElement>("meta[name=orbgate-follow]")?.content ?? "";
  if (url === "") {
    return () => {};
  }
  let timer = 0;
  let tag = "";
  const look = async () => {
    try {
      const answer = await fetch(url, { headers: tag === "" ? {} : { "if-none-match": tag }, cache: "no-store" });
      if (answer.status === 200) {
        tag = answer.headers.get("etag") ?? "";
        changed(await answer.text());
      }
    } catch {
      // The command has ended; it may be started again.
    }
    timer = setTimeout(() => void look(), EVERY);
  };
  void look();
  return () => clearTimeout(timer);
}

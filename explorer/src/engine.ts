// The worker as functions. Of questions of one kind, only the newest one is answered.
import type { About, Answered, Asked, FromWorker, Kind, ToWorker } from "./protocol.js";

type Waiting = { given: unknown; resolve: (answer: unknown) => void };

export class Engine {
  readonly about: Promise<About>;
  #worker: Worker;
  #numbers = 0;
  /** What is being answered, and what is asked next, by kind and slot. */
  #pending = new Map<string, { number: number; current: Waiting; next: Waiting | null }>();

  constructor(failed: (message: string) => void) {
    const code = document.getElementById("worker")?.textContent ?? "";
    const packed = document.getElementById("module")?.textContent ?? "";
    const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.#worker = new Worker(url);
    URL.revokeObjectURL(url);
    let told: (about: About) => void;
    this.about = new Promise((resolve) => (told = resolve));
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
      if ("about" in data) {
        told(data.about);
      } else if ("failed" in data) {
        // Whatever was asked has no answer.
        this.#pending.clear();
        failed(data.failed);
      } else {
        this.#answered(data.number, data.answer);
      }
    });
    this.#worker.addEventListener("error", (event) => failed(event.message));
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    this.#send({ start: bytes.buffer }, [bytes.buffer]);
  }

  /** The answer, unless the same is asked again before: then it never comes. */
  ask<K extends Kind>(kind: K, given: Asked[K]): Promise<Answered[K]> {
    const key = "slot" in given ? `${kind} ${given.slot}` : kind;
    return new Promise((resolve) => {
      const waiting = { given, resolve: resolve as Waiting["resolve"] };
      const entry = this.#pending.get(key);
      if (entry === undefined) {
        this.#start(key, kind, waiting);
      } else {
        entry.next = waiting;
      }
    });
  }

  #start(key: string, kind: Kind, current: Waiting) {
    this.#numbers += 1;
    this.#pending.set(key, { number: this.#numbers, current, next: null });
    this.#send({ kind, number: this.#numbers, given: current.given } as ToWorker);
  }

  #answered(number: number, answer: unknown) {
    for (const [key, entry] of this.#pending) {
      if (entry.number === number) {
        this.#pending.delete(key);
        if (entry.next === null) {
          entry.current.resolve(answer);
        } else {
          this.#start(key, key.split(" ")[0] as Kind, entry.next);
        }
        return;
      }
    }
  }

  #send(message: ToWorker, transfer: Transferable[] = []) {
    this.#worker.postMessage(message, transfer);
  }
}

"use strict";
// What gates count, in the text format of Prometheus.
const { NAMES } = require("../names.js");

const COUNTERS = Object.entries(NAMES).filter(([name]) => name.endsWith("_TOTAL")).map(([, word]) => word);

/** Those without labels are there before they count anything. @type {readonly string[]} */
const WITHOUT_LABELS = [NAMES.AUDIT_LOST_TOTAL, NAMES.OVER_CEILING_TOTAL];

const ESCAPES = /** @type {Record<string, string>} */ ({ "\\": "\\\\", "\n": "\\n", '"': '\\"' });

class PrometheusCounters {
  static contentType = "text/plain; version=0.0.4; charset=utf-8";

  /** By name and series. @type {Map<string, Map<string, number>>} */
  #counts = new Map(COUNTERS.map((name) => [name, new Map(WITHOUT_LABELS.includes(name) ? [["", 0]] : [])]));

  /** @type {(name: string, labels: Readonly<Record<string, string>>) => void} */
  count = (name, labels) => {
    const series = Object.entries(labels).map(([label, value]) => `${label}="${value.replace(/[\\\n"]/g, (one) => ESCAPES[one] ?? one)}"`).join(",");
    const counts = this.#counts.get(name) ?? new Map();
    this.#counts.set(name, counts.set(series, (counts.get(series) ?? 0) + 1));
  };

  text() {
    const lines = [...this.#counts].flatMap(([name, counts]) => [
      `# TYPE ${name} counter`, ...[...counts].map(([series, count]) => (series === "" ? `${name} ${count}` : `${name}{${series}} ${count}`)),
    ]);
    return `${lines.join("\n")}\n`;
  }
}

module.exports = { PrometheusCounters };

// Reads a JSON list of TraceQL queries from standard input, writes those that Grafana's own
// grammar does not take, each with the place where it fails.
import { readFileSync } from 'node:fs';

import { parser } from '@grafana/lezer-traceql';

const wrong = [];
for (const query of JSON.parse(readFileSync(0, 'utf8'))) {
  parser.parse(query).iterate({
    enter: (node) => {
      if (node.type.isError) wrong.push(`${query} at ${node.from}`);
    },
  });
}
console.log(JSON.stringify(wrong));

// A reporter of node:test that tells the failures alone: a line of JSON each, {file, line, name, error}.

/** Failures that only say that one below failed. */
const ECHOES = new Set(['subtestsFailed', 'cancelledByParent']);
const MAX_ERROR_LENGTH = 2_000;

// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from there
export default async function* failedTests(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || ECHOES.has(data.details.error?.failureType)) continue;
    const { error } = data.details;
    const text = String(error?.cause?.stack ?? error?.cause ?? error?.message ?? error);
    yield `${JSON.stringify({
      file: data.file ?? data.name,
      line: data.line,
      name: data.name,
      error: text.slice(0, MAX_ERROR_LENGTH),
    })}\n`;
  }
}

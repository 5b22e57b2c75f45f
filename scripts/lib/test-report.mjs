// A reporter for node:test. Prints a line of JSON for each test without subtests: {file, line, name, durationMs}, and `error` if it failed.

/** Failures that only report the failure of a subtest. */
const ECHOES = new Set(['subtestsFailed', 'cancelledByParent']);
/** Message of `hang-watch.mjs` before it ends a process. */
const HANG = /^plinth: .* open: .*$/m;
const MAX_ERROR_LENGTH = 2_000;

// biome-ignore lint/style/noDefaultExport: node:test loads a reporter from the default export
export default async function* testReport(events) {
  const hangs = new Map();
  for await (const { type, data } of events) {
    if (type === 'test:stderr' && HANG.test(data.message))
      hangs.set(data.file, HANG.exec(data.message)[0]);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { file = data.name, line, name, details } = data;
    const isFailure = type === 'test:fail' && !ECHOES.has(details.error?.failureType);
    if (details.type === 'suite' && !isFailure) continue;
    const test = { file, line, name, durationMs: details.duration_ms };
    const error = hangs.get(file) ?? textOf(details.error);
    yield `${JSON.stringify(isFailure ? { ...test, error } : test)}\n`;
  }
}

const textOf = (error) =>
  String(error?.cause?.stack ?? error?.cause ?? error?.message ?? error).slice(0, MAX_ERROR_LENGTH);

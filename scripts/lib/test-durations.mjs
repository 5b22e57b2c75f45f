// A reporter of node:test: a line of JSON for each test without tests of its own, {file, line, name, durationMs}.

// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from there
export default async function* testDurations(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.details.type === 'suite' || data.file === undefined) continue;
    const { file, line, name, details } = data;
    yield `${JSON.stringify({ file, line, name, durationMs: details.duration_ms })}\n`;
  }
}

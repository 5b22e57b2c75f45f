/** Columns as wide as their widest cell, with a headline; one line per row. */
export function formatTable(
  headline: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const all = [headline, ...rows];
  const widths = headline.map((_, column) =>
    Math.max(...all.map((row) => row[column]?.length ?? 0)),
  );
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

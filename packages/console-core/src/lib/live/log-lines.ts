interface Line {
  readonly seq: number;
  readonly time?: string;
  readonly level: string;
  readonly service?: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** Adds new lines to a page of the log, newest first. Lines that do not match, or are already listed, are skipped. */
export function withNewLines<
  Each extends Line,
  Page extends { readonly lines: readonly Each[]; readonly last_seq: number },
>(
  page: Page,
  lines: readonly Each[],
  { level, find, limit }: { readonly level: string; readonly find: string; readonly limit: number },
): Page {
  const searchText = find.toLowerCase();
  const fresh = lines.filter(
    (line) =>
      line.seq > page.last_seq &&
      LEVELS.indexOf(line.level) >= LEVELS.indexOf(level) &&
      (searchText === '' || valuesOf(line).some((text) => text.toLowerCase().includes(searchText))),
  );
  const last_seq = Math.max(page.last_seq, ...lines.map(({ seq }) => seq));
  if (fresh.length === 0) return { ...page, last_seq };
  return { ...page, last_seq, lines: [...fresh.reverse(), ...page.lines].slice(0, limit) };
}

/** Searches only the values, because some field names differ from the names on the server. */
const valuesOf = ({ time, level, service, message, fields }: Line): readonly string[] =>
  textsOf([time, level, service, message, fields]);

/** Returns all nested values as strings. */
function textsOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'object' && value !== null
    ? Object.values(value).flatMap(textsOf)
    : [String(value)];
}

/**
 * One query of a `*.sql` file of `test/queries`, with the expected result from its `*.result` file.
 */
export interface QueryCase {
  readonly number: number;
  /** Section of the specification that the case's comment names. */
  readonly section: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: string;
  /** Lines of the result table, or `error: ` and a part of the message. */
  readonly expected: readonly string[];
}

export interface QueryFile {
  /** Line protocol written before the cases, with nanosecond timestamps. */
  readonly writes: readonly string[];
  readonly cases: readonly QueryCase[];
}

/**
 * Parses a file of blocks separated by empty lines. The first block may be `-- write` followed by
 * lines of line protocol after `-- `. Every other block is `-- N: section`, optionally `-- params:
 * {json}`, and the query. The result file has a block `-- N` with the result of each. InfluxQL
 * cases may have several statements; the failures of all but the first one are complete lines.
 */
export function readQueryFile(sql: string, result: string): QueryFile {
  const responses = new Map(
    blocksOf(result).map(([head = '', ...lines]) => [Number(head.slice(3)), lines]),
  );
  const blocks = blocksOf(sql);
  const isWrite = blocks[0]?.[0] === '-- write';
  return {
    writes: isWrite ? (blocks[0] ?? []).slice(1).map((line) => line.slice(3)) : [],
    cases: blocks.slice(isWrite ? 1 : 0).map(([head = '', ...lines]) => {
      const [, number, section = ''] = /^-- (\d+): (.*)$/.exec(head) ?? [];
      const params = lines[0]?.startsWith('-- params: ') ? lines[0].slice(11) : undefined;
      return {
        number: Number(number),
        section,
        params: JSON.parse(params ?? '{}') as Record<string, unknown>,
        query: lines.slice(params === undefined ? 0 : 1).join('\n'),
        expected: responses.get(Number(number)) ?? [],
      };
    }),
  };
}

function blocksOf(text: string): string[][] {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((block) => block.split('\n'));
}

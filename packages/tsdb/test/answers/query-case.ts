/** One query of a `*.sql` file of `test/queries` with the answer that its `*.result` file expects. */
export interface QueryCase {
  readonly number: number;
  /** Section of the specification, as the case's comment names it. */
  readonly section: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: string;
  /** Lines of the table, or `error: ` and a part of the message. */
  readonly expected: readonly string[];
}

export interface QueryFile {
  /** Line protocol written before the cases, nanoseconds. */
  readonly writes: readonly string[];
  readonly cases: readonly QueryCase[];
}

/**
 * A file is blocks parted by empty lines. The first may be `-- write` and lines of line protocol behind `-- `;
 * every other is `-- N: section`, perhaps `-- params: {json}`, and the query. The result file has a block
 * `-- N` and the answer for each.
 */
export function readQueryFile(sql: string, result: string): QueryFile {
  const answers = new Map(
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
        expected: answers.get(Number(number)) ?? [],
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

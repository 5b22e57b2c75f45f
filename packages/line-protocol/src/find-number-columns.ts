import { headerNames, readCsv } from './csv-records.js';
import { NumberColumn } from './field-type.js';

/** Finds columns in which every value of the file is a number. Throws `CsvFault`. */
export async function findNumberColumns(
  input: AsyncIterable<Uint8Array>,
): Promise<ReadonlyMap<string, 'int' | 'uint' | 'float'>> {
  let columns: readonly { readonly name: string; readonly numbers: NumberColumn }[] | undefined;
  for await (const record of readCsv(input)) {
    if ('message' in record) continue;
    const { cells } = record;
    if (columns === undefined) {
      columns = headerNames(cells).map((name) => ({ name, numbers: new NumberColumn() }));
      continue;
    }
    for (const [index, { numbers }] of columns.entries()) numbers.add(cells[index] ?? '');
  }
  const found = columns ?? [];
  return new Map(
    found.flatMap(({ name, numbers: { type } }) =>
      type === undefined ? [] : [[name, type] as const],
    ),
  );
}

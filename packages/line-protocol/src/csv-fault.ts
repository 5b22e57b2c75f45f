/** Reports an invalid CSV file or a missing column. */
export class CsvFault extends Error {
  override readonly name = 'CsvFault';
  readonly kind: 'bad_csv' | 'no_such_column';
  constructor(kind: 'bad_csv' | 'no_such_column', message: string) {
    super(message);
    this.kind = kind;
  }
}

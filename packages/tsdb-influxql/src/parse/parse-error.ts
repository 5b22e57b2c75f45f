/**
 * The request text is not valid InfluxQL. `pos` is the offset in bytes. Source: query-languages,
 * "v3 parser".
 */
export class ParseError extends Error {
  override readonly name = 'ParseError';
  readonly pos: number;

  constructor(message: string, pos: number, details = '') {
    super(`parsing error: ${message} at pos ${pos}${details}`);
    this.pos = pos;
  }
}

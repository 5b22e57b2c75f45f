/**
 * The request text is not valid InfluxQL. `pos` is the offset in bytes. Source: query-languages,
 * "v3 parser".
 */
export class ParseError extends Error {
  override readonly name = 'ParseError';
  readonly pos: number;
  /** Whether the message is complete and in the format of InfluxDB 1.x. */
  readonly isV1: boolean = false;

  constructor(message: string, pos: number, details = '') {
    super(`parsing error: ${message} at pos ${pos}${details}`);
    this.pos = pos;
  }

  /** Creates the error of a statement that only InfluxDB 1.x has, with its message. */
  static v1(message: string): ParseError {
    const error = new ParseError(message, 0);
    error.message = `error parsing query: ${message}`;
    return Object.assign(error, { isV1: true });
  }
}

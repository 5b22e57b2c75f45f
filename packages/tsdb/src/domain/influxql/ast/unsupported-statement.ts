/** A statement of the 1.x server about something that this server has in another form. */
export interface UnsupportedStatement {
  readonly kind: 'unsupported';
  /** `CREATE USER` and the like. */
  readonly what: string;
}

/**
 * The client of a query, with the signal that ends the query. The signal may be created on first
 * read, because results that already exist do not need it.
 */
export interface QueryContext {
  readonly signal: AbortSignal;
  /**
   * Name of the token, user or trigger whose limits apply; `undefined` for the server's own queries.
   */
  readonly owner?: string | undefined;
  /** Called with the change in bytes reserved from a memory budget. */
  readonly reserved?: ((sizeBytes: number) => void) | undefined;
}

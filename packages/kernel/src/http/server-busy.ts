/** The memory for requests is used up; a retry may succeed. */
export class ServerBusy extends Error {
  override readonly name = 'ServerBusy';
  readonly kind = 'server_busy';
  /** The value of the `Retry-After` header. */
  readonly retryAfterSec = 1;
  constructor(why = 'the memory for request bodies is used up') {
    super(`${why}; try again`);
  }
}

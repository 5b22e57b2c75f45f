/** The memory for requests is exhausted; a retry may succeed. */
export class ServerBusy extends Error {
  override readonly name = 'ServerBusy';
  readonly kind = 'server_busy';
  /** The value of the `Retry-After` header. */
  readonly retryAfterSec = 1;
  constructor(why = 'the memory limit for request bodies has been reached') {
    super(`${why}; try again`);
  }
}

/** The server holds as much for requests as it may; asked again later, there is room. */
export class ServerBusy extends Error {
  override readonly name = 'ServerBusy';
  readonly kind = 'server_busy';
  /** For the header `Retry-After`. */
  readonly retryAfterSec = 1;
  constructor(why = 'the server holds as many request bodies as it may') {
    super(`${why}; try again`);
  }
}

import { Readable } from 'node:stream';

/**
 * `first`, then what `rest` yields, asked for when the client has taken the last piece. `rest` is closed in every
 * case, also when the client goes away before it has taken anything.
 */
export function streamOf(
  first: Buffer | string,
  rest: AsyncGenerator<Buffer | string, void, undefined>,
): Readable {
  let isBegun = false;
  return new Readable({
    read() {
      if (!isBegun) {
        isBegun = true;
        this.push(first);
        return;
      }
      rest.next().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, callback) {
      rest.return().then(
        () => callback(error),
        (failure: Error) => callback(error ?? failure),
      );
    },
  });
}

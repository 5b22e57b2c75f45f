/** Stands for a user name, a password, or a value of the query. */
export const URL_MASK = '***';

/** Credentials in a URL are for the receiver alone. */
export function maskUrl(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#@]*@/, `$1${URL_MASK}:${URL_MASK}@`);
}

/** For everybody but whoever named the URL: values of the query are often keys. */
export function maskUrlAndQuery(url: string): string {
  return maskUrl(url).replace(/\?[^#]*/, (query) => `?${queryPieces(query).map(masked).join('&')}`);
}

/** What stands between `?`, `&` and the end: a value, and the name before it with its `=` unless it has none. */
export function queryPieces(query: string): readonly { readonly name: string; value: string }[] {
  return query
    .replace(/^\?/, '')
    .split('&')
    .map((piece) => {
      const nameLength = piece.indexOf('=') + 1;
      return { name: piece.slice(0, nameLength), value: piece.slice(nameLength) };
    });
}

const masked = ({ name, value }: { readonly name: string; readonly value: string }): string =>
  name === '' && value === '' ? '' : name + URL_MASK;

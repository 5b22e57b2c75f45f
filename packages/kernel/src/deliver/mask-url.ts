/** Replaces a user name, a password or a query value. */
export const URL_MASK = '***';

/** Hides the credentials of a URL, which only the receiver may see. */
export function maskUrl(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#@]*@/, `$1${URL_MASK}:${URL_MASK}@`);
}

/** For everyone except the owner of the URL, as query values are often keys. */
export function maskUrlAndQuery(url: string): string {
  return maskUrl(url).replace(/\?[^#]*/, (query) => `?${queryPieces(query).map(masked).join('&')}`);
}

/** Returns the pieces of a query between `&`: a value, and the name before it with its `=`, if present. */
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

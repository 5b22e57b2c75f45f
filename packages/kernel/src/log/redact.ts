/**
 * Credentials in running text: our own tokens by their prefix, scheme and credential of an `Authorization`
 * header, the `p` (v1 password), `token` and `access_token` values of a query string.
 */
const CREDENTIAL =
  /(\bapiv3_)[\w-]+|\b((?:Bearer|Token|Basic) )[\w~+/.=:-]{8,}|([?&](?:p|token|access_token)=)[^&\s"'\\#]+/g;

/** The same text with every credential replaced. Works on finished log lines, URLs and messages alike. */
export function redactText(text: string): string {
  return text.replace(
    CREDENTIAL,
    (_, prefix: string | undefined, scheme: string | undefined, key: string | undefined) =>
      `${prefix ?? scheme ?? key ?? ''}[redacted]`,
  );
}

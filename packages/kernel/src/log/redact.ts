/**
 * Credentials in running text: our own tokens by their prefix, scheme and credential of an `Authorization`
 * header, keys of accounts, and what a query string says is one: `p` is the password of v1.
 */
const CREDENTIAL =
  /(\bapiv3_|\b[sr]k_(?:test|live)_)[\w-]+|\b((?:Bearer|Token|Basic) )[\w~+/.=:-]{8,}|([?&](?:p|password|secret|client_secret|token|access_token|api_key)=)[^&\s"'\\#]+/g;

/** The same text with every credential replaced. Works on finished log lines, URLs and messages alike. */
export function redactText(text: string): string {
  return text.replace(
    CREDENTIAL,
    (_, prefix: string | undefined, scheme: string | undefined, key: string | undefined) =>
      `${prefix ?? scheme ?? key ?? ''}[redacted]`,
  );
}

/**
 * Credentials in running text: our own tokens by their prefix, scheme and credential of an `Authorization`
 * header, keys of accounts, logins in URLs, what a query string says is one (`p` is the password of v1), and statements that set a password, as
 * they stand and within a query string.
 */
const CREDENTIAL =
  /(\bapiv3_|\b[sr]k_(?:test|live)_)[\w-]+|\b((?:Bearer|Token|Basic) )[\w~+/.=:-]{8,}|([?&](?:p|password|secret|client_secret|token|access_token|api_key)=|[?&]q=(?=[^&\s"#]*(?:[Pp][Aa][Ss][Ss][Ww][Oo][Rr][Dd])))[^&\s"'\\#]+|(\b[Pp][Aa][Ss][Ss][Ww][Oo][Rr][Dd]\s+(?:[Ff][Oo][Rr]\s[^=']*=\s*)?)'[^']*'?|(:\/\/)[^\s"'\\/?#]*(?=@)/g;

/** The same text with every credential replaced. Works on finished log lines, URLs and messages alike. */
export function redactText(text: string): string {
  return text.replace(
    CREDENTIAL,
    (_, ...kept: (string | undefined)[]) =>
      `${kept.slice(0, 5).find((part) => part !== undefined) ?? ''}[redacted]`,
  );
}

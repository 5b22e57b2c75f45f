const REDACTED = '[redacted]';

/**
 * Credentials in running text: our own tokens by their prefix, scheme and credential of an `Authorization`
 * header, keys of accounts, logins in URLs, and statements that set a password.
 */
const CREDENTIAL =
  /(\bapiv3_|\b[sr]k_(?:test|live)_)[\w-]+|\b((?:Bearer|Token|Basic) )[\w~+/.=:-]{8,}|(\b[Pp][Aa][Ss][Ss][Ww][Oo][Rr][Dd]\s+(?:[Ff][Oo][Rr]\s[^=']*=\s*)?)'[^']*'?|(:\/\/)[^\s"'\\/?#]*(?=@)/g;

/** A parameter of a query string in running text, from its mark up to the next `&` or the end of the target; JSON escapes what would end it. */
const PARAMETER = /[?&](?:\\.|[^&\s"\\])+/g;
/** The same where the whole text is a target. */
const PARAMETER_OF_TARGET = /[?&][^&]+/g;

/** Longer ones are no secret's, in whichever way they are spelled. */
const NAME = /[?&;][^=?&;]{1,64}=/g;

/** A statement that sets a password, also where its keywords are misspelt. */
const SETS_PASSWORD = /password|\bcreate\s(?:[^;]{0,200}\s)?user\b|\bset\s+pass?w/i;

/** What a query string says is a credential; `p` is the password of v1. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  ...['p', 'password', 'secret', 'client_secret', 'token', 'access_token', 'api_key'],
]);

/** The same text with every credential replaced. Works on finished log lines, URLs and messages alike. */
export function redactText(text: string): string {
  return text
    .replace(PARAMETER, redactParameter)
    .replace(
      CREDENTIAL,
      (_, ...kept: (string | undefined)[]) =>
        `${kept.slice(0, 4).find((part) => part !== undefined) ?? ''}${REDACTED}`,
    );
}

/** The target of a request, which may hold what would end it in running text, with the credentials of its query replaced. */
export const redactTarget = (target: string): string =>
  target.replace(PARAMETER_OF_TARGET, redactParameter);

/** Clients part parameters by `;` as well, and a URL may stand in another: a value goes on behind both. */
function redactParameter(text: string): string {
  let isLookedThrough = false;
  for (const match of text.matchAll(NAME)) {
    const end = match.index + match[0].length;
    const name = decoded(match[0].slice(1));
    if (name === 'q' && !isLookedThrough) {
      isLookedThrough = true; // with all that follows
      if (SETS_PASSWORD.test(decoded(`=${text.slice(end)}`))) return text.slice(0, end) + REDACTED;
    }
    if (SECRET_NAMES.has(name)) return text.slice(0, end) + REDACTED;
  }
  return text;
}

/** Name of a parameter, or its value where it has no name, as the server reads it. */
function decoded(parameter: string): string {
  for (const [name, value] of new URLSearchParams(parameter)) return name === '' ? value : name;
  return '';
}

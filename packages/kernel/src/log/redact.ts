const REDACTED = '[redacted]';

/**
 * Matches credentials in text: tokens of this server by prefix, scheme and credential of an `Authorization` header, account
 * keys, logins in URLs, and statements that set a password.
 */
const CREDENTIAL =
  /(\bapiv3_|\b[sr]k_(?:test|live)_)[\w-]+|\b((?:Bearer|Token|Basic) )[\w~+/.=:-]{8,}|(\b[Pp][Aa][Ss][Ss][Ww][Oo][Rr][Dd]\s+(?:[Ff][Oo][Rr]\s[^=']*=\s*)?)'[^']*'?|(:\/\/)[^\s"'\\/?#]*(?=@)/g;

/** Assignments of connection strings, and options of statements such as `CREATE SECRET`. A value ends as in JSON. */
const STATED =
  /((?:\b|_)(?:password|passwd|pwd|secret)=)(?:'(?:[^']|'')*'?|(?:\\[^"nrt]|[^\s'",;&)\\])+)|((?:\b|_)(?:secret|token)\s+)'(?:[^']|'')*'?/gi;

/** A query parameter in text, up to the next `&` or the end of the target. JSON escapes the characters that would end it. */
const PARAMETER = /[?&](?:\\.|[^&\s"\\])+/g;
/** Like `PARAMETER`, for text that consists only of a target. */
const PARAMETER_OF_TARGET = /[?&][^&]+/g;

/** Longer names never belong to a secret, in any encoding. */
const NAME = /[?&;][^=?&;]{1,64}=/g;

/** A statement that sets a password, even with misspelled keywords. */
const SETS_PASSWORD = /password|\bcreate\s(?:[^;]{0,200}\s)?user\b|\bset\s+pass?w/i;

/** Query parameters with credentials; `p` is the InfluxDB 1.x password. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  ...['p', 'password', 'secret', 'client_secret', 'token', 'access_token', 'api_key'],
]);

/** Replaces every credential in log lines, URLs or messages. */
export function redactText(text: string): string {
  return text
    .replace(PARAMETER, redactParameter)
    .replace(STATED, (_, name?: string, option?: string) => `${name ?? option}${REDACTED}`)
    .replace(
      CREDENTIAL,
      (_, ...kept: (string | undefined)[]) =>
        `${kept.slice(0, 4).find((part) => part !== undefined) ?? ''}${REDACTED}`,
    );
}

/** Replaces credentials in the query of a request target, which may contain characters that end a target in text. */
export const redactTarget = (target: string): string =>
  target.replace(PARAMETER_OF_TARGET, redactParameter);

/** Some clients separate parameters by `;`, and a URL may contain another URL, so the value may continue after both. */
function redactParameter(text: string): string {
  let isLookedThrough = false;
  for (const match of text.matchAll(NAME)) {
    const end = match.index + match[0].length;
    const name = decoded(match[0].slice(1));
    if (name === 'q' && !isLookedThrough) {
      isLookedThrough = true; // including the rest of the text
      if (SETS_PASSWORD.test(decoded(`=${text.slice(end)}`))) return text.slice(0, end) + REDACTED;
    }
    if (SECRET_NAMES.has(name)) return text.slice(0, end) + REDACTED;
  }
  return text;
}

/** Returns the decoded name of a parameter, or its value if it has no name. */
function decoded(parameter: string): string {
  for (const [name, value] of new URLSearchParams(parameter)) return name === '' ? value : name;
  return '';
}

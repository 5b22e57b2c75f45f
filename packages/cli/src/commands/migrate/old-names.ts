import { quoted } from '../input/line-text.js';

/** Database in which the source server stored its own metrics. */
const OWN_DATABASE = '_internal';
/** Policies whose points go to the database itself. */
const PLAIN_POLICIES: ReadonlySet<string> = new Set(['', 'autogen', 'default']);

const NAME = String.raw`("(?:[^"\\]|\\.)*"|\S+)`;
const CREATE_DATABASE =
  /^\s*CREATE\s+DATABASE\s+(.+?)(?:\s+WITH\s+(?:(.+?)\s+)?NAME\s+(.+?))?\s*;?\s*$/is;
const POLICY = new RegExp(
  String.raw`^\s*(CREATE|ALTER)\s+RETENTION\s+POLICY\s+${NAME}\s+ON\s+${NAME}\s(.*)$`,
  'is',
);

/** Assigns unique names: other characters become `_`, and a number is appended to a name that is in use. */
class UniqueNames {
  readonly #assigned = new Map<string, string>();
  readonly #taken = new Set<string>();

  of(name: string, preferred: string): string {
    const known = this.#assigned.get(name);
    if (known !== undefined) return known;
    let assigned = preferred;
    for (let i = 2; this.#taken.has(assigned); i++) assigned = `${preferred}_${i}`;
    this.#assigned.set(name, assigned);
    this.#taken.add(assigned);
    return assigned;
  }
}

/** Maps databases and retention policies of InfluxDB 1.x to names of letters, digits, `_` and `-`. */
export class OldNames {
  readonly #databases = new UniqueNames();
  readonly #policies = new Map<string, UniqueNames>();
  readonly #notes = new Set<string>();

  /** A message for each renamed item so far. */
  get notes(): readonly string[] {
    return [...this.#notes];
  }

  /** @returns `undefined` for the internal database, which is skipped. */
  database(name: string): string | undefined {
    if (name === OWN_DATABASE) return undefined;
    const preferred = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^(?![A-Za-z0-9])/, 'db');
    return this.#report(`database ${name}`, name, this.#databases.of(name, preferred));
  }

  /** @returns `undefined` for a policy whose points go to the database itself. */
  policy(database: string, name: string): string | undefined {
    if (PLAIN_POLICIES.has(name)) return undefined;
    const names = this.#policies.get(database) ?? new UniqueNames();
    this.#policies.set(database, names);
    const assigned = names.of(name, name.replace(/[^A-Za-z0-9_-]/g, '_'));
    return this.#report(`retention policy ${name} of ${database}`, name, assigned);
  }

  /** Returns the target database of a policy; `undefined` for a policy of the internal database, which is skipped. */
  place(database: string, policy: string): string | undefined {
    const here = this.database(database);
    if (here === undefined) return undefined;
    const policyHere = this.policy(database, policy);
    return policyHere === undefined ? here : `${here}/${policyHere}`;
  }

  /**
   * Returns a dump statement with the names on this server; `undefined` if it must not run. Statements without names
   * are unchanged.
   */
  statement(text: string): string | undefined {
    const [, verb, policy, on, rest] = POLICY.exec(text) ?? [];
    if (verb !== undefined) {
      const [database, name] = [unquote(on ?? ''), unquote(policy ?? '')];
      const here = this.database(database);
      if (here === undefined) return undefined;
      const policyHere = this.policy(database, name) ?? name;
      return `${verb} RETENTION POLICY ${quoted(policyHere)} ON ${quoted(here)} ${rest}`;
    }
    const [, created, options, named] = CREATE_DATABASE.exec(text) ?? [];
    if (created === undefined) return text;
    // Without NAME the pattern would match options as part of the name.
    const [, alone = created, others = options] = /^(.+?)\s+WITH\s+(.+)$/is.exec(created) ?? [];
    const database = unquote(alone);
    const here = this.database(database);
    if (here === undefined) return undefined;
    const name = named === undefined ? undefined : unquote(named);
    const words = [
      ...(others === undefined ? [] : [others]),
      ...(name === undefined ? [] : [`NAME ${quoted(this.policy(database, name) ?? name)}`]),
    ];
    return `CREATE DATABASE ${quoted(here)}${words.length > 0 ? ` WITH ${words.join(' ')}` : ''}`;
  }

  #report(what: string, name: string, assigned: string): string {
    if (assigned !== name)
      this.#notes.add(
        `${what} is renamed to ${assigned}: names may contain only letters, digits, _ and -`,
      );
    return assigned;
  }
}

/** Removes the quotes of a name in a statement. */
export const unquote = (name: string): string =>
  name.startsWith('"') ? name.slice(1, -1).replace(/\\(.)/g, '$1') : name;

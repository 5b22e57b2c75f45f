import type { Action } from '@plinth/kernel';

/**
 * Users with passwords, which another service stores. Methods throw domain errors with the messages
 * of InfluxDB 1.x.
 */
export interface UserDirectory {
  list(): readonly { readonly name: string; readonly isAdministrator: boolean }[];
  create(newUser: {
    readonly user: string;
    readonly password: string;
    readonly isAdministrator: boolean;
  }): Promise<void>;
  drop(name: string): Promise<void>;
  setPassword(name: string, password: string): Promise<void>;
  setAdministrator(name: string, isAdministrator: boolean): Promise<void>;
  /** Replaces earlier privileges on the database. */
  grant(name: string, database: string, actions: readonly Action[]): Promise<void>;
  revoke(name: string, database: string, actions: readonly Action[]): Promise<void>;
  /** Returns privileges by database. */
  grantsOf(
    name: string,
  ): readonly { readonly database: string; readonly actions: readonly Action[] }[];
}

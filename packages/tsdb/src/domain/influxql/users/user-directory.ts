import type { Action } from '@plinth/kernel';

/** Users with passwords, which this service does not keep itself. What is wrong is told by domain errors, in the words of version 1. */
export interface UserDirectory {
  list(): readonly { readonly name: string; readonly isAdministrator: boolean }[];
  create(wanted: {
    readonly user: string;
    readonly password: string;
    readonly isAdministrator: boolean;
  }): Promise<void>;
  drop(name: string): Promise<void>;
  setPassword(name: string, password: string): Promise<void>;
  setAdministrator(name: string, isAdministrator: boolean): Promise<void>;
  /** In place of what was granted on the database. */
  grant(name: string, database: string, actions: readonly Action[]): Promise<void>;
  revoke(name: string, database: string, actions: readonly Action[]): Promise<void>;
  /** By database. */
  grantsOf(
    name: string,
  ): readonly { readonly database: string; readonly actions: readonly Action[] }[];
}

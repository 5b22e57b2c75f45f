/** What makes a plugin run. Source: processing-engine, "Trigger specification grammar". */
export type TriggerSpecification =
  | { readonly kind: 'all_tables' }
  | { readonly kind: 'table'; readonly table: string }
  | { readonly kind: 'cron'; readonly expression: string }
  | { readonly kind: 'every'; readonly intervalNs: bigint }
  | { readonly kind: 'request'; readonly path: string };

/** In the words of messages to clients. */
export type PluginType = 'WalRows' | 'Schedule' | 'Request';

/** What happens when a run fails. */
export type ErrorBehavior = 'log' | 'retry' | 'disable';

/** A plugin bound to an event in one database. */
export interface Trigger {
  /** Never reused. */
  readonly id: number;
  readonly databaseId: number;
  /** Unique in its database. */
  readonly name: string;
  /** As the user wrote it: a path below the plugin folder, or `gh:` and a path of the plugin repository. */
  readonly pluginFilename: string;
  readonly specification: TriggerSpecification;
  /** Runs may overlap. */
  readonly runAsync: boolean;
  readonly errorBehavior: ErrorBehavior;
  /** `undefined`: none were given, which a plugin can tell from an empty set. */
  readonly arguments: ReadonlyMap<string, string> | undefined;
  readonly isDisabled: boolean;
}

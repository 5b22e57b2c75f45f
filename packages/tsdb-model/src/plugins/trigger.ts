/** The event that runs a plugin. Source: processing-engine, "Trigger specification grammar". */
export type TriggerSpecification =
  | { readonly kind: 'all_tables' }
  | { readonly kind: 'table'; readonly table: string }
  | { readonly kind: 'cron'; readonly expression: string }
  | { readonly kind: 'every'; readonly intervalNs: bigint }
  | { readonly kind: 'request'; readonly path: string };

/** Names as in messages to clients. */
export type PluginType = 'WalRows' | 'Schedule' | 'Request';

/** Action after a failed run. */
export type ErrorBehavior = 'log' | 'retry' | 'disable';

/** A plugin bound to an event in one database. */
export interface Trigger {
  /** Never reused. */
  readonly id: number;
  readonly databaseId: number;
  /** Unique in its database. */
  readonly name: string;
  /**
   * As the user entered it: a path below the plugin folder, or `gh:` and a path of the plugin
   * repository.
   */
  readonly pluginFilename: string;
  readonly specification: TriggerSpecification;
  /** If true, runs may overlap. */
  readonly runAsync: boolean;
  readonly errorBehavior: ErrorBehavior;
  /** `undefined` if none were provided, which plugins can distinguish from an empty map. */
  readonly arguments: ReadonlyMap<string, string> | undefined;
  readonly isDisabled: boolean;
}

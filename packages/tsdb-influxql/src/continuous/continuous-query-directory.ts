/** Continuous queries, which another package stores and runs. */
export interface ContinuousQueryDirectory {
  /** Returns the queries of databases that are not deleted, in order of creation. */
  list(): readonly {
    readonly database: string;
    readonly name: string;
    /** The CREATE statement. */
    readonly text: string;
  }[];
  /**
   * Does nothing if an equal query exists. Throws `database_not_found`, `continuous_query_exists`
   * and `continuous_query_limit_reached`.
   */
  create(query: {
    readonly database: string;
    readonly name: string;
    readonly text: string;
  }): Promise<void>;
  /** Does nothing if the database or the query does not exist. */
  drop(database: string, name: string): Promise<unknown>;
}

/** The node's relational store. */
export const STORE_FILE = 'plinth.db';
/** Names the version of the product that wrote to the folder last. */
export const VERSION_FILE = 'plinth.version';

/** Folder of the commit log, below the data folder. */
export const LOG_FOLDER = 'tsdb-log';

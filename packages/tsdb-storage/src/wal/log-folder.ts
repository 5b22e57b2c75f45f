/** Folder of the commit log, below the data folder. */
export const LOG_FOLDER = 'tsdb-log';
/** Folder of log files whose rows are in segments, kept for live queries. */
export const RECENT_LOG_FOLDER = 'tsdb-recent-log';

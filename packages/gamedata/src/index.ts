export { GAMEDATA_SETTINGS, type GameDataConfig } from './config.js';
export { writeSample } from './domain/sample/write-sample.js';
export { GAMEDATA_API } from './routes/description.js';
export { createGameData, type GameData, type GameDataDeps } from './service.js';
export { findDamagedLines } from './storage/find-damaged-lines.js';

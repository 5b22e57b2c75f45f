export { GAMEDATA_SETTINGS, type GameDataConfig } from './config.js';
export { writeSample } from './domain/sample/write-sample.js';
export { describeGameData } from './routes/openapi/describe-game-data.js';
export { createGameData, type GameData, type GameDataNeeds } from './service.js';

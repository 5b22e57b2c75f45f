export { GAMEDATA_SETTINGS, type GameDataConfig } from './config.js';
export { createGameData, type GameData, type GameDataNeeds } from './service.js';

import { createContext, useContext } from 'react';
import type { ServerInfo } from '../../api/server.js';

/** The server that the console shows; always set inside the shell. */
export const ServerContext = createContext<ServerInfo | undefined>(undefined);

export function useServer(): ServerInfo {
  const info = useContext(ServerContext);
  if (info === undefined) throw new Error('useServer must be called inside Shell');
  return info;
}

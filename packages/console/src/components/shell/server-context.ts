import type { ServerInfo } from '@plinth/console-core/api/server.js';
import { createContext, useContext } from 'react';

/** The server that the console shows; always set inside the shell. */
export const ServerContext = createContext<ServerInfo | undefined>(undefined);

export function useServer(): ServerInfo {
  const info = useContext(ServerContext);
  if (info === undefined) throw new Error('useServer must be called inside Shell');
  return info;
}

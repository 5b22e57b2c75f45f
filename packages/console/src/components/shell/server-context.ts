import { createContext, useContext } from 'react';
import type { ServerInfo } from '../../api/server.js';

/** The server that is shown; there is one wherever there is a page. */
export const ServerContext = createContext<ServerInfo | undefined>(undefined);

export function useServer(): ServerInfo {
  const info = useContext(ServerContext);
  if (info === undefined) throw new Error('asked outside of the shell');
  return info;
}

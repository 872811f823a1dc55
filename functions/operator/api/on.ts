/** How a group of routes is added to the app: by name, so that method, path, right and input come from the contract. */
import type { Handler } from '../../http/route.ts';
import type { RouteName } from '../contract/routes.ts';

export type On = (name: RouteName, handler: Handler) => void;

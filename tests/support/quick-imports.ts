import { registerHooks } from 'node:module';

/**
 * Loaded before everything else by the processes of tests. Whether a file is a module, Node looks up in the package.json of
 * its package, which it reads anew for each file; the one of drizzle-orm is so long that half of a start goes into that. Here
 * its files are told to be modules, which all that end in `.js` are.
 */
const place = '/node_modules/drizzle-orm/';

registerHooks({
  resolve: (specifier, context, next) => {
    const { parentURL } = context;
    const isKnown = specifier.startsWith('.') && specifier.endsWith('.js') && parentURL?.includes(place) === true;
    if (!isKnown) return next(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: 'module', shortCircuit: true };
  },
});

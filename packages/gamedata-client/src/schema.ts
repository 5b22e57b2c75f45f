// Written by `npm run openapi` from docs/api/gamedata.json; not edited by hand.
export interface paths {
    "/api": {
        /** List the collections */
        get: {
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/ammunition/calibers/list": {
        /** List all calibers */
        get: {
            parameters: {
                query?: {
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            calibers: string[];
                        };
                    };
                };
            };
        };
    };
    "/api/items/categories/list": {
        /** List all item categories */
        get: {
            parameters: {
                query?: {
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            categories: {
                                id?: string;
                                name?: string;
                                parent?: string | null;
                                count?: number;
                            }[];
                        };
                    };
                };
            };
        };
    };
    "/api/items": {
        /** List items */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                    /** @description part of a name, ignoring case and diacritics */
                    search?: string;
                    /** @description expression: words, "phrases", field:value, OR, -not */
                    q?: string;
                    /** @description keys: name, shortName, id, rarity, price, weight, updatedAt; prefix - for descending order */
                    sort?: string;
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description up to 250 ids */
                    ids?: string;
                    /** @description use the common envelope of all lists */
                    envelope?: "page";
                    /** @description related records, in `included`: category, quests, hideout, traders, presets, ammunition */
                    include?: string;
                    /** @description related records, in `included`: category, quests, hideout, traders, presets, ammunition */
                    expand?: string;
                    /** @description any of: weapon, ammo, magazine, mod, armor, helmet, rig, backpack, medical, food, key, container, barter, currency, unknown */
                    category?: string;
                    /** @description any of: common, uncommon, rare, very rare, legendary */
                    rarity?: string;
                    /** @description any of */
                    tag?: string;
                    /** @description minimum of price */
                    minPrice?: number;
                    /** @description maximum of price */
                    maxPrice?: number;
                    /** @description minimum of weight */
                    minWeight?: number;
                    /** @description maximum of weight */
                    maxWeight?: number;
                    /** @description id, slug or name of traders; separate alternatives with commas */
                    trader?: string;
                    /** @description id, slug or name of quests; separate alternatives with commas */
                    quest?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            total: number;
                            count: number;
                            offset: number;
                            limit: number;
                            next: string | null;
                            previous: string | null;
                            notFound?: string[];
                            included?: {
                                [key: string]: Record<string, never>;
                            };
                            items: components["schemas"]["Item"][];
                        };
                    };
                };
            };
        };
    };
    "/api/items/{id}": {
        /** Get an item */
        get: {
            parameters: {
                query?: {
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description related records, in `included`: category, quests, hideout, traders, presets, ammunition */
                    include?: string;
                    /** @description related records, in `included`: category, quests, hideout, traders, presets, ammunition */
                    expand?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
                path: {
                    /** @description id or slug */
                    id: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["Item"];
                    };
                };
            };
        };
    };
    "/api/ammunition": {
        /** List ammunition */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                    /** @description part of a name, ignoring case and diacritics */
                    search?: string;
                    /** @description expression: words, "phrases", field:value, OR, -not */
                    q?: string;
                    /** @description keys: name, caliber, damage, penetration, armorDamage, price, id; prefix - for descending order */
                    sort?: string;
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description up to 250 ids */
                    ids?: string;
                    /** @description use the common envelope of all lists */
                    envelope?: "page";
                    /** @description related records, in `included`: item */
                    include?: string;
                    /** @description related records, in `included`: item */
                    expand?: string;
                    /** @description any of */
                    caliber?: string;
                    /** @description any of: bullet, buckshot, grenade, other */
                    ammoType?: string;
                    /** @description only records with this value of tracer */
                    tracer?: boolean;
                    /** @description minimum of damage */
                    minDamage?: number;
                    /** @description maximum of damage */
                    maxDamage?: number;
                    /** @description minimum of penetration */
                    minPenetration?: number;
                    /** @description maximum of penetration */
                    maxPenetration?: number;
                    /** @description id, slug or name of traders; separate alternatives with commas */
                    trader?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            total: number;
                            count: number;
                            offset: number;
                            limit: number;
                            next: string | null;
                            previous: string | null;
                            notFound?: string[];
                            included?: {
                                [key: string]: Record<string, never>;
                            };
                            ammunition: components["schemas"]["Ammunition"][];
                        };
                    };
                };
            };
        };
    };
    "/api/ammunition/{id}": {
        /** Get an ammunition record */
        get: {
            parameters: {
                query?: {
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description related records, in `included`: item */
                    include?: string;
                    /** @description related records, in `included`: item */
                    expand?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
                path: {
                    /** @description id or slug */
                    id: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["Ammunition"];
                    };
                };
            };
        };
    };
    "/api/traders": {
        /** List traders */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                    /** @description part of a name, ignoring case and diacritics */
                    search?: string;
                    /** @description expression: words, "phrases", field:value, OR, -not */
                    q?: string;
                    /** @description keys: name, id; prefix - for descending order */
                    sort?: string;
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description up to 250 ids */
                    ids?: string;
                    /** @description use the common envelope of all lists */
                    envelope?: "page";
                    /** @description related records, in `included`: quests, items */
                    include?: string;
                    /** @description related records, in `included`: quests, items */
                    expand?: string;
                    /** @description any of */
                    currency?: string;
                    /** @description id, slug or name of maps; separate alternatives with commas */
                    map?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            [key: string]: components["schemas"]["Trader"];
                        };
                    };
                };
            };
        };
    };
    "/api/traders/{id}": {
        /** Get a trader */
        get: {
            parameters: {
                query?: {
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description related records, in `included`: quests, items */
                    include?: string;
                    /** @description related records, in `included`: quests, items */
                    expand?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
                path: {
                    /** @description id, slug or name */
                    id: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["Trader"];
                    };
                };
            };
        };
    };
    "/api/quests": {
        /** List quests */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                    /** @description part of a name, ignoring case and diacritics */
                    search?: string;
                    /** @description expression: words, "phrases", field:value, OR, -not */
                    q?: string;
                    /** @description keys: title, name, level, experience, id; prefix - for descending order */
                    sort?: string;
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description up to 250 ids */
                    ids?: string;
                    /** @description use the common envelope of all lists */
                    envelope?: "page";
                    /** @description related records, in `included`: trader, items, maps, prerequisites */
                    include?: string;
                    /** @description related records, in `included`: trader, items, maps, prerequisites */
                    expand?: string;
                    /** @description id, slug or name of traders; separate alternatives with commas */
                    trader?: string;
                    /** @description id, slug or name of maps; separate alternatives with commas */
                    map?: string;
                    /** @description id, slug or name of items; separate alternatives with commas */
                    item?: string;
                    /** @description any of: find, collect, build, place, key, kill, locate, mark, pickup, reputation, skill, warning, extract, hideout, level, other */
                    objective?: string;
                    /** @description minimum of level */
                    minLevel?: number;
                    /** @description maximum of level */
                    maxLevel?: number;
                    /** @description id, slug or name of storyline; separate alternatives with commas */
                    storyline?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            total: number;
                            count: number;
                            offset: number;
                            limit: number;
                            next: string | null;
                            previous: string | null;
                            notFound?: string[];
                            included?: {
                                [key: string]: Record<string, never>;
                            };
                            quests: components["schemas"]["Quest"][];
                        };
                    };
                };
            };
        };
    };
    "/api/quests/{id}": {
        /** Get a quest */
        get: {
            parameters: {
                query?: {
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description related records, in `included`: trader, items, maps, prerequisites */
                    include?: string;
                    /** @description related records, in `included`: trader, items, maps, prerequisites */
                    expand?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
                path: {
                    /** @description id or slug */
                    id: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["Quest"];
                    };
                };
            };
        };
    };
    "/api/maps": {
        /** List maps */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                    /** @description part of a name, ignoring case and diacritics */
                    search?: string;
                    /** @description expression: words, "phrases", field:value, OR, -not */
                    q?: string;
                    /** @description keys: name, min_level, players, duration; prefix - for descending order */
                    sort?: string;
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description up to 250 ids */
                    ids?: string;
                    /** @description use the common envelope of all lists */
                    envelope?: "page";
                    /** @description related records, in `included`: quests */
                    include?: string;
                    /** @description related records, in `included`: quests */
                    expand?: string;
                    /** @description maximum of min_level */
                    maxMinLevel?: number;
                    /** @description any of: Very Easy, Easy, Easy-Medium, Medium, Medium-Hard, Hard, Very Hard */
                    raidlevel?: string;
                    /** @description any of */
                    boss?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["Map"][];
                    };
                };
            };
        };
    };
    "/api/maps/{id}": {
        /** Get a map */
        get: {
            parameters: {
                query?: {
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description related records, in `included`: quests */
                    include?: string;
                    /** @description related records, in `included`: quests */
                    expand?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
                path: {
                    /** @description id, slug or name */
                    id: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["Map"];
                    };
                };
            };
        };
    };
    "/api/hideout": {
        /** List hideout */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                    /** @description part of a name, ignoring case and diacritics */
                    search?: string;
                    /** @description expression: words, "phrases", field:value, OR, -not */
                    q?: string;
                    /** @description keys: name, level; prefix - for descending order */
                    sort?: string;
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description up to 250 ids */
                    ids?: string;
                    /** @description use the common envelope of all lists */
                    envelope?: "page";
                    /** @description related records, in `included`: items, traders, modules */
                    include?: string;
                    /** @description related records, in `included`: items, traders, modules */
                    expand?: string;
                    /** @description any of */
                    bonus?: string;
                    /** @description id, slug or name of items; separate alternatives with commas */
                    item?: string;
                    /** @description id, slug or name of traders; separate alternatives with commas */
                    trader?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            modules: components["schemas"]["HideoutModule"][];
                        };
                    };
                };
            };
        };
    };
    "/api/hideout/{id}": {
        /** Get a hideout module */
        get: {
            parameters: {
                query?: {
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description related records, in `included`: items, traders, modules */
                    include?: string;
                    /** @description related records, in `included`: items, traders, modules */
                    expand?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
                path: {
                    /** @description id or slug */
                    id: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["HideoutModule"];
                    };
                };
            };
        };
    };
    "/api/item-presets": {
        /** List item-presets */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                    /** @description part of a name, ignoring case and diacritics */
                    search?: string;
                    /** @description expression: words, "phrases", field:value, OR, -not */
                    q?: string;
                    /** @description keys: name, ergonomics, recoil, weight, accuracy; prefix - for descending order */
                    sort?: string;
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description up to 250 ids */
                    ids?: string;
                    /** @description use the common envelope of all lists */
                    envelope?: "page";
                    /** @description related records, in `included`: base, items */
                    include?: string;
                    /** @description related records, in `included`: base, items */
                    expand?: string;
                    /** @description id, slug or name of items; separate alternatives with commas */
                    baseId?: string;
                    /** @description id, slug or name of items; separate alternatives with commas */
                    part?: string;
                    /** @description only records with this value of default */
                    default?: boolean;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            total: number;
                            count: number;
                            offset: number;
                            limit: number;
                            next: string | null;
                            previous: string | null;
                            notFound?: string[];
                            included?: {
                                [key: string]: Record<string, never>;
                            };
                            presets: components["schemas"]["ItemPreset"][];
                        };
                    };
                };
            };
        };
    };
    "/api/item-presets/{id}": {
        /** Get an item preset */
        get: {
            parameters: {
                query?: {
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description related records, in `included`: base, items */
                    include?: string;
                    /** @description related records, in `included`: base, items */
                    expand?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
                path: {
                    /** @description id or slug */
                    id: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["ItemPreset"];
                    };
                };
            };
        };
    };
    "/api/levels": {
        /** List levels */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                    /** @description part of a name, ignoring case and diacritics */
                    search?: string;
                    /** @description expression: words, "phrases", field:value, OR, -not */
                    q?: string;
                    /** @description keys: level; prefix - for descending order */
                    sort?: string;
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description up to 250 ids */
                    ids?: string;
                    /** @description use the common envelope of all lists */
                    envelope?: "page";
                    /** @description minimum of level */
                    from?: number;
                    /** @description maximum of level */
                    to?: number;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["Level"][];
                    };
                };
            };
        };
    };
    "/api/levels/{level}": {
        /** Get a level */
        get: {
            parameters: {
                query?: {
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
                path: {
                    /** @description id or slug */
                    level: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["Level"];
                    };
                };
            };
        };
    };
    "/api/storyline": {
        /** List storyline */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                    /** @description part of a name, ignoring case and diacritics */
                    search?: string;
                    /** @description expression: words, "phrases", field:value, OR, -not */
                    q?: string;
                    /** @description keys: order, name; prefix - for descending order */
                    sort?: string;
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description up to 250 ids */
                    ids?: string;
                    /** @description use the common envelope of all lists */
                    envelope?: "page";
                    /** @description related records, in `included`: quests, traders, maps */
                    include?: string;
                    /** @description related records, in `included`: quests, traders, maps */
                    expand?: string;
                    /** @description any of: critical, major, minor */
                    importance?: string;
                    /** @description id, slug or name of traders; separate alternatives with commas */
                    trader?: string;
                    /** @description id, slug or name of quests; separate alternatives with commas */
                    quest?: string;
                    /** @description id, slug or name of maps; separate alternatives with commas */
                    map?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            total: number;
                            count: number;
                            offset: number;
                            limit: number;
                            next: string | null;
                            previous: string | null;
                            notFound?: string[];
                            included?: {
                                [key: string]: Record<string, never>;
                            };
                            storylines: components["schemas"]["StorylineElement"][];
                        };
                    };
                };
            };
        };
    };
    "/api/storyline/{id}": {
        /** Get a storyline element */
        get: {
            parameters: {
                query?: {
                    /** @description members to return, as dot paths */
                    fields?: string;
                    /** @description related records, in `included`: quests, traders, maps */
                    include?: string;
                    /** @description related records, in `included`: quests, traders, maps */
                    expand?: string;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
                path: {
                    /** @description id or slug */
                    id: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": components["schemas"]["StorylineElement"];
                    };
                };
            };
        };
    };
    "/api/search": {
        /** Search all collections, with tolerance for typos */
        get: {
            parameters: {
                query: {
                    /** @description search expression, as in lists */
                    q: string;
                    /** @description only these collections */
                    kinds?: string;
                    /** @description page size */
                    limit?: number;
                    /** @description hits to skip */
                    offset?: number;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            results: {
                                kind?: string;
                                id?: string;
                                name?: string | null;
                                score?: number;
                            }[];
                        };
                    };
                };
            };
        };
    };
    "/api/suggest": {
        /** Suggest names for a search box */
        get: {
            parameters: {
                query: {
                    /** @description typed text */
                    q: string;
                    /** @description only these collections */
                    kinds?: string;
                    /** @description names */
                    limit?: number;
                    /** @description language code of the data set, or `all` */
                    lang?: string;
                    /** @description a published version; default: the newest */
                    version?: number;
                    /** @description `true`: reject unknown parameters */
                    strict?: boolean;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": {
                            suggestions: {
                                kind?: string;
                                id?: string;
                                name?: string | null;
                            }[];
                        };
                    };
                };
            };
        };
    };
    "/api/versions": {
        /** List published versions, newest first */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description entries to skip */
                    offset?: number;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/versions/{n}": {
        /** Get a version */
        get: {
            parameters: {
                path: {
                    /** @description number of the version */
                    n: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/changes": {
        /** List changes since a version */
        get: {
            parameters: {
                query: {
                    /** @description version that the client has */
                    since: number;
                    /** @description only this collection */
                    kind?: string;
                    /** @description page size */
                    limit?: number;
                    /** @description entries to skip */
                    offset?: number;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/schemas": {
        /** List the JSON Schemas of the collections */
        get: {
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/schemas/{kind}": {
        /** Get a JSON Schema */
        get: {
            parameters: {
                path: {
                    /** @description collection name, such as items */
                    kind: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/openapi.json": {
        /** Get this API description */
        get: {
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/bulk": {
        /** List files with complete collections */
        get: {
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/bulk/{version}/{file}": {
        /** Get a bulk file as JSON or NDJSON */
        get: {
            parameters: {
                path: {
                    /** @description `v<n>` or `latest` */
                    version: string;
                    /** @description `items.json`, `items.ndjson`, ..., `all.json` */
                    file: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": unknown;
                    };
                };
            };
        };
    };
    "/api/docs": {
        /** API documentation page */
        get: {
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "text/html": string;
                    };
                };
            };
        };
    };
    "/images/{rest}": {
        /** Get an image of a record */
        get: {
            parameters: {
                path: {
                    rest: string;
                };
            };
            responses: {
                /** @description the image */
                200: {
                };
            };
        };
    };
    "/api/editor/types": {
        /** List types with their record counts */
        get: {
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/editor/session": {
        /** Get the name and scopes of the token */
        get: {
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/editor/validate": {
        /** Validate the draft */
        get: {
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/editor/validate/{type}": {
        /** Validate one type */
        get: {
            parameters: {
                path: {
                    /** @description items, ammunition, traders, quests, maps, hideout, itemPresets, levels, storyline */
                    type: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/editor/versions": {
        /** List versions, newest first */
        get: {
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/editor/history": {
        /** List changes with their actors */
        get: {
            parameters: {
                query?: {
                    /** @description only this type */
                    type?: string;
                    /** @description only this id */
                    id?: string;
                    /** @description only this actor */
                    actor?: string;
                    /** @description only this operation */
                    op?: "create" | "update" | "delete" | "import" | "publish" | "restore" | "undo" | "redo";
                    /** @description page size; large entries reduce it, and `next` continues */
                    limit?: number;
                    /** @description entries to skip */
                    offset?: number;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/editor/export": {
        /** Export the complete data set */
        get: {
            parameters: {
                query?: {
                    /** @description format of the response */
                    format?: "native" | "tarkovdata";
                    /** @description include unpublished changes */
                    drafts?: boolean;
                    /** @description an older version */
                    version?: number;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/editor/{type}": {
        /** List records of the draft, paginated if `limit` is set */
        get: {
            parameters: {
                query?: {
                    /** @description page size */
                    limit?: number;
                    /** @description records to skip */
                    offset?: number;
                };
                path: {
                    /** @description items, ammunition, traders, quests, maps, hideout, itemPresets, levels, storyline */
                    type: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
    "/api/editor/{type}/{id}": {
        /** Get a record of the draft */
        get: {
            parameters: {
                query?: {
                    /** @description return the published record instead */
                    published?: boolean;
                };
                path: {
                    /** @description items, ammunition, traders, quests, maps, hideout, itemPresets, levels, storyline */
                    type: string;
                    /** @description id of the record */
                    id: string;
                };
            };
            responses: {
                /** @description OK */
                200: {
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
    };
}
export interface components {
    schemas: {
        Error: {
            error: string;
            code: string;
            param?: string;
            position?: number;
            details?: {
                path: string;
                code: string;
                message: string;
                type?: string;
                id?: string;
            }[];
        };
        Item: {
            id: string;
            slug: string;
            name: string;
            /** @default null */
            shortName: string | null;
            /** @default null */
            description: string | null;
            /** @default null */
            rarity: ("common" | "uncommon" | "rare" | "very rare" | "legendary") | null;
            /** @default {} */
            handbook: {
                /** @default null */
                parent: string | null;
                /** @default null */
                price: number | null;
            };
            /** @default unknown */
            category: "weapon" | "ammo" | "magazine" | "mod" | "armor" | "helmet" | "rig" | "backpack" | "medical" | "food" | "key" | "container" | "barter" | "currency" | "unknown";
            /** @default [] */
            tags: string[];
            /** @default null */
            weight: number | null;
            /** @default null */
            width: number | null;
            /** @default null */
            height: number | null;
            /** @default null */
            stackSize: number | null;
            /** @default null */
            image: string | null;
            /** @default null */
            wiki: string | null;
            /** @default {} */
            properties: {
                ammo?: {
                    caliber: string;
                    type: string;
                };
                weapon?: {
                    /** @default null */
                    caliber: string | null;
                    /** @default null */
                    fireRate: number | null;
                    /** @default null */
                    ergonomics: number | null;
                    /** @default null */
                    recoil: number | null;
                    /** @default null */
                    accuracy: number | null;
                    /** @default [] */
                    fireModes: string[];
                    /** @default null */
                    defaultAmmoId: string | null;
                    /** @default [] */
                    slots: {
                        name: string;
                        /** @default false */
                        required: boolean;
                        /** @default [] */
                        itemIds: string[];
                    }[];
                };
                armor?: {
                    class: number;
                    durability: number;
                    /** @default [] */
                    zones: string[];
                    /** @default null */
                    material: string | null;
                };
                mod?: {
                    slot: string;
                    /** @default 0 */
                    ergonomics: number;
                    /** @default 0 */
                    recoilPercent: number;
                    /** @default 0 */
                    accuracyPercent: number;
                };
                magazine?: {
                    /** @default null */
                    caliber: string | null;
                    capacity: number;
                };
                container?: {
                    width: number;
                    height: number;
                    /** @default [] */
                    accepts: string[];
                };
                medical?: {
                    uses: number;
                    /** @default [] */
                    effects: string[];
                };
                food?: {
                    energy: number;
                    hydration: number;
                };
                key?: {
                    /** @default null */
                    mapId: string | null;
                    /** @default null */
                    uses: number | null;
                };
            };
            /** @default {} */
            extra: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            relations: {
                soldBy: {
                    traderId: string;
                    level: number;
                    price: number;
                    currency: string;
                }[];
                quests: string[];
                rewardedBy: string[];
                hideout: {
                    moduleId: string;
                    level: number;
                }[];
                presets: string[];
            };
            /** @default {} */
            locales: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
        Ammunition: {
            id: string;
            slug: string;
            /** @default null */
            itemId: string | null;
            name: string;
            shortName: string;
            caliber: string;
            /** @default null */
            weight: number | null;
            /** @default null */
            stackMaxSize: number | null;
            /** @default false */
            tracer: boolean;
            /** @default null */
            tracerColor: string | null;
            /** @default bullet */
            ammoType: "bullet" | "buckshot" | "grenade" | "other";
            /** @default 1 */
            projectileCount: number;
            ballistics: {
                damage: number;
                penetration: number;
                /** @default 0 */
                armorDamage: number;
                /** @default 0 */
                fragmentation: number;
                /** @default 0 */
                ricochetChance: number;
                /** @default null */
                penetrationChance: number | null;
                /** @default 0 */
                accuracy: number;
                /** @default 0 */
                recoil: number;
                /** @default 0 */
                initialSpeed: number;
                penetrationPower: number;
                fragmentationChance: number;
                /** @enum {string} */
                ricochet: "none" | "low" | "medium" | "high";
            };
            /** @default {} */
            extra: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            properties: {
                /** @default null */
                cost: number | null;
                /** @default null */
                weight: number | null;
            };
            /** @default {} */
            locales: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
        Trader: {
            id: string;
            slug: string;
            name: string;
            /** @default null */
            fullName: string | null;
            /** @default  */
            description: string;
            /** @default null */
            location: string | null;
            currency: string;
            /** @default [] */
            currencies: string[];
            /** @default null */
            image: string | null;
            /** @default null */
            wiki: string | null;
            /** @default [] */
            loyalty: {
                level: number;
                /** @default 0 */
                requiredLevel: number;
                /** @default 0 */
                requiredReputation: number;
                /** @default 0 */
                requiredSales: number;
            }[];
            inventory: {
                id: string;
                price: number;
                currency: string;
                level: number;
                /** @default null */
                questId: string | null;
                /** @default null */
                stock: number | null;
                /** @default null */
                name: string | null;
            }[];
            /** @default [] */
            mapIds: string[];
            /** @default {} */
            extra: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            level: number;
            quests: {
                id: string;
                /** @default null */
                name: string | null;
            }[];
            /** @default {} */
            locales: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
        Quest: {
            id: string;
            slug: string;
            /** @default null */
            gameId: string | null;
            title: string;
            giverId: string;
            turnInId: string;
            /** @default null */
            description: string | null;
            /** @default null */
            wiki: string | null;
            /** @default null */
            storylineId: string | null;
            /** @default {} */
            conditions: {
                /** @default any */
                location: string;
                /** @default 0 */
                level: number;
                /** @default [] */
                quests: string[][];
                /** @default [] */
                loyalty: {
                    traderId: string;
                    level: number;
                }[];
                /** @default [] */
                objectives: {
                    id: string;
                    type: "find" | "collect" | "build" | "place" | "key" | "kill" | "locate" | "mark" | "pickup" | "reputation" | "skill" | "warning" | "extract" | "hideout" | "level" | "other";
                    /** @default null */
                    description: string | null;
                    /** @default  */
                    target: string;
                    /** @default 1 */
                    count: number;
                    /** @default false */
                    optional: boolean;
                    /** @default false */
                    foundInRaid: boolean;
                    /** @default [] */
                    itemIds: string[];
                    /** @default [] */
                    mapIds: string[];
                    /** @default null */
                    traderId: string | null;
                    /** @default null */
                    moduleId: string | null;
                    /** @default null */
                    level: number | null;
                    /** @default null */
                    skill: string | null;
                    /** @default [] */
                    keys: string[][];
                    /** @default null */
                    toolId: string | null;
                    /** @default null */
                    hint: string | null;
                    /** @default [] */
                    with: {
                        type: string;
                        /** @default null */
                        name: string | null;
                        /** @default null */
                        value: (number | string) | null;
                        /** @default [] */
                        itemIds: string[];
                    }[];
                    /** @default null */
                    position: {
                        x: number;
                        y: number;
                        /** @default null */
                        floor: string | null;
                    } | null;
                }[];
            };
            reward: {
                /** @default 0 */
                experience: number;
                items: {
                    id: string;
                    count: number;
                    /** @default null */
                    name: string | null;
                }[];
                /** @default [] */
                reputations: {
                    traderId: string;
                    value: number;
                }[];
                /** @default [] */
                unlocks: {
                    itemId: string;
                    /** @default null */
                    traderId: string | null;
                    /** @default null */
                    level: number | null;
                }[];
                reputation: number;
            };
            /** @default {} */
            failure: {
                /** @default [] */
                reputations: {
                    traderId: string;
                    value: number;
                }[];
            };
            /** @default [] */
            alternatives: string[];
            /** @default {} */
            flags: {
                /** @default false */
                deprecated: boolean;
                /** @default false */
                optional: boolean;
            };
            /** @default {} */
            extra: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            name: string;
            /** @default null */
            giver: string | null;
            /** @default [] */
            objectives: {
                id: string;
                type: "find" | "collect" | "build" | "place" | "key" | "kill" | "locate" | "mark" | "pickup" | "reputation" | "skill" | "warning" | "extract" | "hideout" | "level" | "other";
                /** @default null */
                description: string | null;
                /** @default  */
                target: string;
                /** @default 1 */
                count: number;
                /** @default false */
                optional: boolean;
                /** @default false */
                foundInRaid: boolean;
                /** @default [] */
                itemIds: string[];
                /** @default [] */
                mapIds: string[];
                /** @default null */
                traderId: string | null;
                /** @default null */
                moduleId: string | null;
                /** @default null */
                level: number | null;
                /** @default null */
                skill: string | null;
                /** @default [] */
                keys: string[][];
                /** @default null */
                toolId: string | null;
                /** @default null */
                hint: string | null;
                /** @default [] */
                with: {
                    type: string;
                    /** @default null */
                    name: string | null;
                    /** @default null */
                    value: (number | string) | null;
                    /** @default [] */
                    itemIds: string[];
                }[];
                /** @default null */
                position: {
                    x: number;
                    y: number;
                    /** @default null */
                    floor: string | null;
                } | null;
            }[];
            /** @default {} */
            locales: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
        Map: {
            id: string;
            slug: string;
            name: string;
            /** @default null */
            description: string | null;
            /** @default 0 */
            min_level: number;
            /** @default 0 */
            players: number;
            /** @default 0 */
            duration: number;
            /** @default null */
            durationNight: number | null;
            /** @default null */
            raidlevel: ("Very Easy" | "Easy" | "Easy-Medium" | "Medium" | "Medium-Hard" | "Hard" | "Very Hard") | null;
            /** @default null */
            image: string | null;
            /** @default null */
            wiki: string | null;
            /** @default [] */
            spawns: {
                name: string;
                /** @default  */
                description: string;
            }[];
            bosses: {
                name: string;
                /** @default  */
                description: string;
                spawnChance: number;
                spawnRate: string;
            }[];
            /** @default [] */
            loot: {
                type: "highvalue" | "currency" | "ammo" | "medical" | "keys";
                location: string;
                /** @default [] */
                examples: string[];
                /** @default [] */
                itemIds: string[];
            }[];
            /** @default [] */
            extracts: {
                name: string;
                /** @default null */
                description: string | null;
                /** @default null */
                requires: string | null;
            }[];
            /** @default [] */
            enemies: string[];
            /** @default [] */
            accessItemIds: string[];
            /** @default [] */
            floors: string[];
            /** @default {} */
            extra: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            quests: {
                id: string;
                /** @default null */
                name: string | null;
            }[];
            /** @default {} */
            locales: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
        HideoutModule: {
            id: string;
            slug: string;
            name: string;
            /** @default null */
            description: string | null;
            /** @default false */
            disabled: boolean;
            /** @default null */
            image: string | null;
            requirements: {
                /** @default 0 */
                electricity: number;
                materials: {
                    id: string;
                    count: number;
                }[];
            };
            /** @default [] */
            levels: {
                level: number;
                /** @default null */
                description: string | null;
                /** @default 0 */
                constructionTime: number;
                /** @default [] */
                items: {
                    id: string;
                    count: number;
                    /** @default false */
                    foundInRaid: boolean;
                }[];
                /** @default [] */
                modules: {
                    id: string;
                    level: number;
                }[];
                /** @default [] */
                traders: {
                    id: string;
                    level: number;
                }[];
                /** @default [] */
                skills: {
                    name: string;
                    level: number;
                }[];
                /** @default [] */
                bonuses: {
                    type: string;
                    value: number | string;
                }[];
            }[];
            /** @default {} */
            extra: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            level: number;
            bonuses: {
                type: string;
                value: number | string;
                level: number;
            }[];
            /** @default {} */
            locales: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
        ItemPreset: {
            id: string;
            slug: string;
            name: string;
            /** @default null */
            appendName: string | null;
            /** @default false */
            default: boolean;
            baseId: string;
            /** @default null */
            description: string | null;
            mods: {
                slot: string;
                item: string;
                /** @default null */
                name: string | null;
            }[];
            /** @default [] */
            parts: {
                id: string;
                /** @default 1 */
                quantity: number;
            }[];
            /** @default {} */
            extra: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            /** @default null */
            ergonomics: number | null;
            /** @default null */
            weight: number | null;
            /** @default null */
            recoil: number | null;
            /** @default null */
            accuracy: number | null;
            /** @default null */
            fireRate: number | null;
            /** @default null */
            damagePerShot: number | null;
            /** @default {} */
            locales: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
        Level: {
            id: string;
            slug: string;
            level: number;
            exp: number;
            /** @default 0 */
            expToNextLevel: number;
            /** @default null */
            title: string | null;
            /** @default null */
            description: string | null;
            /** @default null */
            group: (number | string) | null;
            /** @default {} */
            bonuses: {
                /** @default 0 */
                carry_weight: number;
                /** @default 0 */
                health: number;
                /** @default 0 */
                stash_size: number;
                /** @default 0 */
                radiation_resist: number;
            };
            /** @default {} */
            extra: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            totalExp: number;
            /** @default {} */
            locales: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
        StorylineElement: {
            id: string;
            slug: string;
            /** @default 0 */
            order: number;
            name: string;
            /** @default  */
            description: string;
            /** @default null */
            details: string | null;
            /** @default null */
            fullText: string | null;
            /** @default null */
            character: string | null;
            /** @default null */
            timeline: string | null;
            /** @default null */
            importance: ("critical" | "major" | "minor") | null;
            relatedQuests: {
                id: string;
                /** @default null */
                name: string | null;
            }[];
            /** @default [] */
            relatedCharacters: {
                /** @default null */
                id: string | null;
                /** @default null */
                name: string | null;
                /** @default null */
                role: string | null;
            }[];
            /** @default [] */
            events: {
                date: string;
                title: string;
                /** @default  */
                description: string;
            }[];
            /** @default [] */
            requires: string[];
            /** @default [] */
            mapIds: string[];
            /** @default [] */
            objectives: ({
                id: string;
                type: string;
                /** @default null */
                description: string | null;
                /** @default false */
                optional: boolean;
            } & {
                [key: string]: unknown;
            })[];
            /** @default [] */
            rewards: ({
                type: string;
            } & {
                [key: string]: unknown;
            })[];
            /** @default {} */
            branches: {
                [key: string]: unknown;
            };
            /** @default {} */
            extra: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            updatedAt: string;
            /** @default {} */
            locales: {
                [key: string]: {
                    [key: string]: string;
                };
            };
        };
    };
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The site's search. It works from a folder without a server: its index is a script (search_index.js), loaded when
 * somebody looks for something. What is looked for is, in this order:
 * - the name of a routine or setting, whole (shmem_put_signal) or without its beginning (put_signal),
 * - a message that a program printed: it fits a pattern of errors.md, in which … stands for any text,
 * - words, by how rare they are and where they stand.
 */
(function () {
    "use strict";
    const root = new URL(".", document.currentScript.src).href;
    const weights = { guide: 1.3, other: 0.9, man: 0.9, device: 0.8, python: 0.8, results: 0.7, design: 0.6,
        news: 0.35 };
    const most = 30;
    let entries = null;

    const tokens = text => text.toLowerCase().match(/[a-z0-9_]+/g) || [];
    const stem = word => (word.length > 4 && !word.includes("_") ? word.replace(/(ies|es|s|ing|ed)$/, "") : word);
    const terms = text => tokens(text).map(stem);
    /* shmem_ctx_put_signal, shmem_int_fadd, put_signal, fadd: what people type has none of these. */
    const types = /^(float|(long)?double|s?char|u?(char|short|int|long|longlong)|u?int\d+|size|ptrdiff|half|bfloat16)_/;
    const short = name => name.toLowerCase().replace(/^warpshmem\./, "").replace(/^p?(nv)?(shmem|sma)x?_/, "")
        .replace(/^ctx_/, "");
    const plain = name => name.toLowerCase().replace(/\(\d?\)$/, "");

    /* [place, kind, page, title, names, text] becomes an entry with what scoring needs. */
    function prepare(rows) {
        const documents = new Map(), pages = new Map();
        const result = rows.map(([place, kind, page, title, names, text]) => {
            const entry = { place, kind, page, title, names, text, counts: new Map(), words: 0 };
            for (const term of terms(text)) {
                entry.counts.set(term, (entry.counts.get(term) || 0) + 1);
                entry.words++;
            }
            entry.heading = new Set(terms(title));
            entry.pageWords = new Set(terms(page));
            entry.opens = !place.includes("#");
            entry.file = entry.opens ? stem(place.replace(/.*\/|\..*/g, "")) : "";
            entry.lower = text.toLowerCase();
            entry.known = new Set(names.map(plain));
            entry.shorts = new Set(names.flatMap(name => [short(name), short(name).replace(types, "")]));
            if (!pages.has(page))
                pages.set(page, new Map());
            entry.pageCounts = pages.get(page);
            for (const [term, count] of entry.counts)
                entry.pageCounts.set(term, (entry.pageCounts.get(term) || 0) + count);
            for (const term of new Set([...entry.counts.keys(), ...entry.heading]))
                documents.set(term, (documents.get(term) || 0) + 1);
            /* A message's fixed parts, in the order in which a line has them. */
            entry.patterns = place.includes("errors.html#row-") ?
                names.map(name => name.toLowerCase().split("…").map(part => part.trim()).filter(part => part)) : [];
            return entry;
        });
        result.idf = term => Math.log(1 + result.length / (1 + (documents.get(term) || 0)));
        result.average = result.reduce((sum, entry) => sum + entry.words, 0) / (result.length || 1);
        result.vocabulary = documents;
        return result;
    }

    /* How long the fixed parts are of a pattern that fits the line, or 0. */
    function fit(pattern, line) {
        let at = 0, long = 0;
        for (const part of pattern) {
            const found = line.indexOf(part, at);
            if (found < 0)
                return 0;
            at = found + part.length;
            long += part.length;
        }
        return long >= 8 ? long : 0;
    }

    function messageScore(entry, line) {
        let best = 0;
        for (const pattern of entry.patterns) {
            best = Math.max(best, fit(pattern, line));
            /* What was pasted is a piece of the message. */
            if (line.length >= 8 && pattern.some(part => part.includes(line) && 3 * line.length >= 2 * part.length))
                best = Math.max(best, line.length);
        }
        return best ? 1000 + 10 * best : 0;
    }

    /* A name as it is says more than one that is short for it, and that more than one of many on a page. */
    function nameScore(entry, name) {
        if (!name || /\s/.test(name))
            return 0;
        const first = entry.names.length ? entry.names[0] : "";
        const bonus = { man: 90, guide: 80, device: 40 }[entry.kind] || 0;
        if (entry.known.has(name))
            return 900 + bonus + (plain(first) === name ? 50 : 0);
        if (entry.shorts.has(short(name)))
            return 600 + bonus + (short(first) === short(name) ? 100 : 0);
        /* Pages of routines in kernels have their names without a type alone. */
        return entry.shorts.has(short(name).replace(types, "")) ? 500 + bonus : 0;
    }

    function wordScore(entry, query, index) {
        let score = 0, found = 0;
        for (const term of query.terms) {
            const idf = index.idf(term);
            const count = entry.counts.get(term) || 0;
            const part = idf * (2.2 * count) / (count + 1.2 * (0.35 + 0.65 * entry.words / index.average));
            const named = (entry.heading.has(term) ? 2.5 * idf : 0) + (entry.pageWords.has(term) ? 1.5 * idf : 0) +
                (entry.file === term ? 4 * idf : 0);
            score += part + named + (count ? 0.5 * idf * Math.log2(1 + entry.pageCounts.get(term)) : 0);
            found += part + named > 0;
        }
        if (!found)
            return 0;
        if (query.terms.length > 1 && entry.lower.includes(query.text))
            score *= 1.6;
        else if (/^-/.test(query.text) && entry.lower.includes(query.text))
            score *= /\.1\.html/.test(entry.place) ? 4 : 2;
        /* A message of the table is found by its pattern; by its words it would hide what explains them. */
        if (query.terms.length > 1 && entry.title.toLowerCase().includes(query.text))
            score *= 1.4;
        if (entry.opens)
            score *= 1.25;
        const weight = entry.patterns.length ? 0.5 : weights[entry.kind];
        return score * Math.pow(found / query.terms.length, 1.5) * weight;
    }

    function search(text) {
        const line = text.trim().toLowerCase().replace(/\s+/g, " ");
        const query = { text: line, terms: [...new Set(terms(line))] };
        /* A word that is nowhere may be the beginning of one, or longer than one. */
        const near = term => [...entries.vocabulary.keys()].filter(word => word.startsWith(term) ||
            (word.length > 4 && term.startsWith(word)));
        query.terms = query.terms.flatMap(term => entries.vocabulary.has(term) ? [term] : near(term).slice(0, 5));
        const name = plain(line.replace(/\(.*$/, "").replace(/[;,:.=]+$/, "").replace(/=.*$/, ""));
        return entries
            .map(entry => ({ entry, score: messageScore(entry, line) + nameScore(entry, name) +
                wordScore(entry, query, entries) }))
            .filter(hit => hit.score > 0)
            .sort((a, b) => b.score - a.score)
            .slice(0, most);
    }

    function load(then) {
        if (entries)
            return then();
        const script = document.createElement("script");
        script.src = root + "search_index.js";
        script.onload = () => { entries = prepare(window.warpshmemIndex); then(); };
        document.head.append(script);
    }

    const element = (tag, name, text) => {
        const made = document.createElement(tag);
        made.className = name;
        if (text)
            made.textContent = text;
        return made;
    };

    /* What stands around the first of the words. */
    function snippet(entry, words) {
        const places = words.map(word => entry.lower.indexOf(word)).filter(place => place >= 0);
        const start = Math.max(0, (places.length ? Math.min(...places) : 0) - 40);
        return (start ? "… " : "") + entry.text.slice(start, start + 160) + (entry.text.length > start + 160 ? " …" : "");
    }

    function show(list, text) {
        list.replaceChildren();
        list.dataset.query = text;
        if (!text.trim())
            return;
        const hits = search(text);
        if (!hits.length)
            list.append(element("li", "ws-none", "Nothing found. A message may have fewer words: paste its fixed part."));
        for (const { entry } of hits) {
            const item = element("li", "ws-hit"), link = element("a", "");
            link.href = root + entry.place;
            const title = entry.title && entry.title !== entry.page ? entry.title : entry.page;
            link.append(element("b", "", title), element("i", "", title === entry.page ? entry.kind : entry.page),
                element("span", "", snippet(entry, tokens(text))));
            item.append(link);
            list.append(item);
        }
    }

    function build() {
        const bar = document.querySelector(".md-header__inner");
        const button = element("button", "ws-open", "Search");
        button.type = "button";
        button.title = "Routines, settings, messages, words ( / )";
        const box = element("dialog", "ws-box"), input = element("input", "ws-input"), list = element("ol", "ws-hits");
        input.type = "search";
        input.placeholder = "put_signal, SHMEM_NICS, a message, words";
        input.setAttribute("aria-label", "Search");
        box.append(input, list);
        document.body.append(box);
        if (bar)
            bar.insertBefore(button, bar.querySelector(".md-header__source"));
        const open = () => { if (!box.open) box.showModal(); input.focus(); load(() => show(list, input.value)); };
        button.addEventListener("click", open);
        input.addEventListener("input", () => load(() => show(list, input.value)));
        box.addEventListener("click", event => { if (event.target === box || event.target.closest("a")) box.close(); });
        box.addEventListener("keydown", event => move(event, input, list));
        document.addEventListener("keydown", event => {
            const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
            if ((event.key === "/" && !typing) || (event.key === "k" && (event.ctrlKey || event.metaKey))) {
                event.preventDefault();
                open();
            }
        });
        const asked = new URLSearchParams(location.search).get("q");
        if (asked) {
            input.value = asked;
            open();
        }
    }

    /* Arrows go through the hits; return opens the first. */
    function move(event, input, list) {
        const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
        if (event.key === "Enter" && document.activeElement === input && links.length)
            links[0].click();
        else if (event.key === "ArrowDown" && links.length)
            links[Math.min(at + 1, links.length - 1)].focus();
        else if (event.key === "ArrowUp" && at >= 0)
            (at ? links[at - 1] : input).focus();
        else
            return;
        event.preventDefault();
    }

    if (document.readyState === "loading")
        document.addEventListener("DOMContentLoaded", build);
    else
        build();
})();

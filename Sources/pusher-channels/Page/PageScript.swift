enum PageScript {
    /// The live page's script: polls the server's state and shows it, and publishes the event in the form.
    ///
    /// Everything from the server becomes text through `textContent`, or a field's value. The page's policy forbids making markup
    /// of text.
    static let javaScript = #"""
        'use strict';
        const byID = id => document.getElementById(id);
        const interval = 400, patience = 5000, sizes = { channels: 100, connections: 50 };
        let isFirst = true;

        function make(tag, className, text) {
          const element = document.createElement(tag);
          if (className) element.className = className;
          if (text !== undefined) element.textContent = text;
          return element;
        }

        function say(element, text) {
          if (element.textContent !== text) element.textContent = text;
        }

        function plural(count, one, many) {
          return count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${many}`;
        }

        // Characters that aren't seen, or turn the text around, are named. Joiners stay: words and emoji are made with them.
        const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
        function visible(text) {
          return text.replace(unseen, character => `⟨U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
        }

        // A text that a client may have chosen, isolated from what is beside it: it may be written from right to left.
        function excerpt(tag, className, { text, rest }) {
          const element = make(tag, className);
          element.append(make('bdi', '', visible(text)));
          if (rest > 0) element.append(make('span', 'rest', ` … and ${plural(rest, 'byte', 'bytes')} more`));
          return element;
        }

        function row(...children) {
          const element = make('div', 'row');
          element.append(...children);
          return element;
        }

        function button(className, text, label, action) {
          const element = make('button', className, text);
          element.type = 'button';
          if (label) element.setAttribute('aria-label', visible(label));
          element.addEventListener('click', action);
          return element;
        }

        // The rest of a list is found by a search of the list that it belongs to.
        function names(list, none, more) {
          const element = make('div', 'detail');
          if (list.total === 0) element.textContent = none;
          list.items.forEach((name, index) => element.append(index ? ', ' : '', excerpt('span', '', name)));
          const rest = list.total - list.items.length;
          if (rest > 0) element.append(' and ', more(`${rest.toLocaleString('en')} more`));
          return element;
        }

        // Elements that stay aren't moved, so that they keep the focus and what is selected in them.
        function place(list, elements) {
          const kept = new Set(elements);
          for (const child of [...list.children]) if (!kept.has(child)) child.remove();
          elements.forEach((element, index) => {
            if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
          });
        }

        function item(children, isNew) {
          const element = make('li', isNew ? 'new' : '');
          element.addEventListener('animationend', () => element.classList.remove('new'));
          element.append(...children);
          return element;
        }

        // Rows stay what they are as long as what they show does.
        function update(list, items, key, rowOf) {
          const old = new Map([...list.children].map(element => [element.key, element]));
          let focused;
          const elements = items.map(value => {
            const id = key(value), version = JSON.stringify(value);
            const known = old.get(id);
            if (known?.version === version) return known;
            const element = Object.assign(item(rowOf(value), !isFirst && !known), { key: id, version });
            if (known?.contains(document.activeElement)) focused = element;
            return element;
          });
          place(list, elements);
          focused?.querySelector('button')?.focus();
        }

        const starts = { channels: 0, connections: 0 };
        // Changes with what is looked for.
        let wanted = 0;
        // A box that scrolls can be scrolled by keyboard, too.
        function showBox(name, isShown) {
          const box = byID(`${name}-box`);
          box.hidden = !isShown;
          box.tabIndex = box.scrollHeight > box.clientHeight ? 0 : -1;
        }

        const searchOf = name => byID(`${name}-search`);

        function search(name, text) {
          searchOf(name).value = text;
          searchOf(name).focus();
          find(name);
        }

        function find(name, start = 0) {
          starts[name] = start;
          wanted += 1;
          look();
        }

        function showPage(name, { total, found, start, items }, key, rowOf) {
          const field = searchOf(name), isSearched = field.value !== '';
          update(byID(name), items, key, rowOf);
          showBox(name, found > 0);
          say(byID(`${name}-count`), `${isSearched ? `${found.toLocaleString('en')} of ` : ''}${total.toLocaleString('en')}`);
          byID(`no-${name}`).hidden = total > 0;
          byID(`${name}-none`).hidden = !total || found > 0;
          byID(`${name}-tools`).hidden = total < 8 && !isSearched && document.activeElement !== field;
          byID(`${name}-pager`).hidden = items.length === found;
          starts[name] = start;
          const end = start + items.length, previous = byID(`${name}-previous`), next = byID(`${name}-next`);
          say(byID(`${name}-range`), `${(start + 1).toLocaleString('en')}–${end.toLocaleString('en')} of ${found.toLocaleString('en')}`);
          previous.onclick = () => find(name, Math.max(0, start - sizes[name]));
          next.onclick = () => find(name, end);
          enable(previous, start > 0, next);
          enable(next, end < found, previous);
        }

        // A button that can't be used any more passes the focus on.
        function enable(element, isEnabled, other) {
          const hadFocus = document.activeElement === element;
          element.disabled = !isEnabled;
          if (!isEnabled && hadFocus) {
            other.disabled = false;
            other.focus();
          }
        }

        let hasSeveralApps = false;
        const appOf = value => hasSeveralApps && value.app ? [excerpt('span', 'detail', value.app)] : [];

        function channelRow(channel) {
          const shown = plural(channel.subscribers, 'connection', 'connections');
          const show = (className, text) => channel.name.rest
            ? make('span', className, text)
            : button(`${className} link`, text, `${text}: show the connections of ${channel.name.text}`, () => search('connections', channel.name.text));
          const first = row(excerpt('span', 'name', channel.name), ...appOf(channel), show('end', shown));
          if (!channel.members) return [first];
          const members = names(channel.members, 'no members', text => show('', text));
          members.prepend(`${plural(channel.members.total, 'member', 'members')}: `);
          return [first, members];
        }

        function connectionRow(connection) {
          const user = connection.user ? [excerpt('span', 'detail', connection.user)] : [];
          const name = `Connection ${connection.number}`;
          const more = text => button('link', text, `${text}: show the channels of ${name}`, () => search('channels', name));
          return [
            row(make('span', 'name', name), ...user, ...appOf(connection), make('span', 'end code', connection.socketID)),
            names(connection.channels, 'no channels', more),
          ];
        }

        // The log, the newest entry first. Older ones than these aren't kept.
        const longest = 500;
        let log = [], paused = null, pausedAt = 0, run = '', last = 0;

        const deeds = {
          connected: 'opened', disconnected: 'closed', subscribed: 'subscribed', unsubscribed: 'unsubscribed',
          occupied: 'is occupied', vacated: 'is vacated', refused: 'was refused',
        };

        function entryRows(entry) {
          if (entry.kind === 'gap') return [make('div', 'detail', `${plural(entry.missed, 'earlier entry is', 'earlier entries are')} no longer kept.`)];
          const time = make('time', 'end', entry.time.toLocaleTimeString([], { hour12: false }));
          const who = entry.connection ? `connection ${entry.connection}` : '';
          if (entry.kind === 'event') return eventRows(entry, who, time);
          const words = [who && entry.channel ? `${who} ` : '', deeds[entry.kind]];
          const name = entry.channel ? excerpt('span', 'what', entry.channel) : make('span', 'what', who.replace('c', 'C'));
          const deed = make('span', `detail ${entry.kind}`, words.join(''));
          if (entry.text) deed.append({ connected: ' with socket ID ', refused: ': ' }[entry.kind] ?? ' as ', excerpt('span', '', entry.text));
          return [row(name, deed, ...appOf(entry), time)];
        }

        function eventRows(entry, who, time) {
          const receivers = entry.receivers === 0 ? 'nobody' : plural(entry.receivers, 'connection', 'connections');
          const route = make('div', 'detail', `from ${who || 'the backend'}, to ${receivers}`);
          if (entry.encryption) {
            const words = { decrypted: 'encrypted, decrypted for this page', unreadable: 'encrypted, and this server’s master key doesn’t open it' };
            route.append(' · ', make('span', entry.encryption, words[entry.encryption]));
          }
          const rows = [row(excerpt('span', 'name', entry.name), excerpt('span', 'detail', entry.channel), ...appOf(entry), time), route];
          if (entry.data.text) rows.push(excerpt('div', 'data code', entry.data));
          if (entry.data.rest) rows.push(opener(entry, rows.at(-1)));
          return rows;
        }

        // Opens an event's data, and closes it again. All of it is fetched only then.
        function opener(entry, shown) {
          const name = entry.name.text;
          const show = (data, isOpen) => {
            shown.replaceChildren(...excerpt('div', '', data).childNodes);
            shown.classList.toggle('box', isOpen);
            for (const [key, value] of Object.entries({ role: 'region', tabindex: 0, 'aria-label': `All data of ${visible(name)}` })) {
              if (isOpen) shown.setAttribute(key, value); else shown.removeAttribute(key);
            }
            label(isOpen);
          };
          const label = isOpen => {
            toggle.setAttribute('aria-expanded', isOpen);
            toggle.textContent = isOpen ? 'Show less' : 'Show all';
            toggle.setAttribute('aria-label', `${toggle.textContent}: data of ${visible(name)}`);
          };
          const toggle = button('link', '', '', async () => {
            if (toggle.getAttribute('aria-expanded') === 'true') return show(entry.data, false);
            try {
              const response = await fetch(`/page/data?${new URLSearchParams({ run: entry.run, number: entry.number })}`, { signal: AbortSignal.timeout(patience) });
              if (response.ok) return show(await response.json(), true);
              const gone = Object.assign(make('span', 'detail', 'The server no longer has the rest.'), { tabIndex: -1 });
              toggle.replaceWith(gone);
              gone.focus();
            } catch {
              showLost();
            }
          });
          label(false);
          return toggle;
        }

        function take({ total, items }, newRun) {
          if (newRun !== run) [run, last, log, pausedAt] = [newRun, 0, [], 0];
          if (total <= last) return;
          const now = Date.now(), fresh = items.filter(entry => entry.number > last);
          for (const entry of fresh) Object.assign(entry, { run, time: new Date(now - entry.age) });
          const missed = total - last - fresh.length;
          if (missed > 0) fresh.push({ kind: 'gap', missed });
          last = total;
          log = [...fresh, ...log].slice(0, longest);
        }

        function showLog() {
          const text = byID('filter').value.toLowerCase(), kinds = byID('kind').value.split(' ');
          const all = paused ?? log;
          for (const entry of all) entry.row ??= item(entryRows(entry), !isFirst);
          const isWanted = entry => (!kinds[0] || kinds.includes(entry.kind)) && entry.row.textContent.toLowerCase().includes(text);
          const shown = all.filter(isWanted);
          place(byID('log'), shown.map(entry => entry.row));
          const count = list => list.filter(entry => entry.kind !== 'gap').length.toLocaleString('en');
          say(byID('log-count'), shown.length < all.length ? `${count(shown)} of ${count(all)}` : count(all));
          showBox('log', shown.length > 0);
          say(byID('log-note'), paused ? `Paused, ${plural(Math.max(0, last - pausedAt), 'newer entry waits', 'newer entries wait')}.`
            : all.length === 0 ? 'Nothing yet. Events, connections and subscriptions appear here as they happen.'
              : shown.length === 0 ? 'Nothing in the log matches.' : '');
        }

        function fill(element, texts, partOf) {
          if (element.version === texts.join('\n')) return;
          element.version = texts.join('\n');
          element.replaceChildren(...texts.flatMap(partOf));
        }

        const optionOf = text => Object.assign(make('option', '', text), { value: text });

        function showState({ profile, run, server }) {
          hasSeveralApps = server.apps.total > 1;
          const keys = server.apps.items.map(app => app.text);
          say(byID('keys'), keys.join(', '));
          say(byID('profile'), profile);
          const tls = location.protocol === 'https:' ? ['--tls', '--ca-file FILE'] : [];
          const port = location.port || (location.protocol === 'https:' ? 443 : 80);
          const host = ['127.0.0.1', 'localhost'].includes(location.hostname) ? [] : [`--host ${location.hostname}`];
          const command = ['pusher-channels listen my-channel', ...host, `--port ${port}`, `--key ${keys[0]}`, ...tls];
          fill(byID('hint'), command, text => [make('span', '', text), ' ']);
          byID('app-field').hidden = !hasSeveralApps;
          fill(byID('app'), keys, optionOf);
          fill(byID('channel-names'), server.channels.items.filter(channel => !channel.name.rest).map(channel => channel.name.text), optionOf);
          take(server.log, run);
          showLog();
          showPage('channels', server.channels, channel => `${channel.name.text}\n${channel.app.text}\n${channel.name.rest}`, channelRow);
          showPage('connections', server.connections, connection => `${connection.number}`, connectionRow);
          isFirst = false;
        }

        function showStatus(state, text) {
          byID('status').dataset.state = state;
          say(byID('status'), text);
        }

        function showLost() {
          showStatus('lost', 'The server can’t be reached. Trying again.');
        }

        let isLooking = false;
        async function look() {
          if (document.hidden || isLooking) return;
          isLooking = true;
          const asked = wanted;
          try {
            const query = new URLSearchParams({ run, last, order: byID('order').value });
            for (const name in starts) {
              query.set(name, searchOf(name).value);
              query.set(`${name}-start`, starts[name]);
            }
            const response = await fetch(`/page/state?${query}`, { signal: AbortSignal.timeout(patience) });
            if (!response.ok) throw new Error(response.status);
            const state = await response.json();
            if (asked === wanted) showState(state);
            showStatus('live', 'Live');
          } catch {
            showLost();
          } finally {
            isLooking = false;
          }
          // Somebody turned the page or typed meanwhile.
          if (asked !== wanted) look();
        }

        function showOutcome(isGood, text) {
          byID('outcome').classList.toggle('bad', !isGood);
          byID('outcome').textContent = text;
        }

        async function publish() {
          const event = { app: byID('app').value };
          for (const name of ['channel', 'event', 'data']) event[name] = byID(name).value;
          const headers = { 'Content-Type': 'application/json' };
          try {
            const response = await fetch('/page/publish', { method: 'POST', headers, body: JSON.stringify(event), signal: AbortSignal.timeout(patience) });
            if (!response.ok) return showOutcome(false, await response.text());
            const { receivers } = await response.json();
            showOutcome(true, receivers ? `Sent to ${plural(receivers, 'connection', 'connections')}.` : 'Published. Nobody is subscribed to the channel.');
            look();
          } catch {
            showOutcome(false, 'The server can’t be reached.');
          }
        }

        byID('publish').addEventListener('submit', event => {
          event.preventDefault();
          publish();
        });
        byID('data').addEventListener('keydown', event => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          byID('publish').requestSubmit();
        });
        for (const name in starts) searchOf(name).addEventListener('input', () => find(name));
        byID('order').addEventListener('change', () => find('channels'));
        byID('filter').addEventListener('input', showLog);
        byID('kind').addEventListener('change', showLog);
        byID('pause').addEventListener('click', () => {
          [paused, pausedAt] = [paused ? null : log, last];
          byID('pause').textContent = paused ? 'Resume' : 'Pause';
          showLog();
        });
        byID('clear').addEventListener('click', () => {
          [log, pausedAt] = [[], last];
          if (paused) paused = [];
          showLog();
        });
        document.addEventListener('visibilitychange', look);
        byID('address').textContent = location.host;
        document.title = `Pusher Channels on ${location.host}`;
        setInterval(look, interval);
        look();
        """#
}

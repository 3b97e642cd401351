/// The live page's one file. It loads nothing: its style and its script are in it.
enum PageDocument {
    /// Returns the file. The browser accepts only a style and a script with this nonce.
    static func html(nonce: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Pusher Channels</title>
        <link rel="icon" href="\(icon)">
        <style nonce="\(nonce)">
        \(PageStyle.css)
        </style>
        </head>
        <body>
        \(body)
        <script nonce="\(nonce)">
        \(PageScript.javaScript)
        </script>
        </body>
        </html>

        """
    }

    private static let icon =
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='6' fill='%236d4aff'/%3E%3C/svg%3E"

    private static let body = #"""
        <header>
          <h1>Pusher Channels <span class="quiet">local server</span></h1>
          <p id="status" role="status" data-state="waiting">Connecting</p>
          <dl id="facts">
            <div><dt>Address</dt><dd id="address"></dd></div>
            <div><dt>App key</dt><dd id="keys"></dd></div>
            <div><dt>Imitates</dt><dd id="profile"></dd></div>
          </dl>
        </header>
        <noscript><p class="card">This page needs JavaScript to show what goes on.</p></noscript>
        <main>
          <div class="column">
            <section class="card" aria-labelledby="publish-title">
              <h2 id="publish-title">Publish an event</h2>
              <form id="publish" autocomplete="off">
                <div id="app-field" class="field" hidden><label for="app">App key</label><select id="app"></select></div>
                <div class="pair">
                  <div class="field">
                    <label for="channel">Channel</label>
                    <input id="channel" value="my-channel" list="channel-names" required spellcheck="false" autocapitalize="off">
                    <datalist id="channel-names"></datalist>
                  </div>
                  <div class="field">
                    <label for="event">Event</label>
                    <input id="event" value="my-event" required spellcheck="false" autocapitalize="off">
                  </div>
                </div>
                <div class="field">
                  <label for="data">Data</label>
                  <textarea id="data" rows="3" spellcheck="false" aria-describedby="data-hint">{"message": "hello"}</textarea>
                </div>
                <div class="actions">
                  <button id="send">Publish</button>
                  <span id="data-hint" class="quiet">Enter publishes, Shift+Enter begins a new line.</span>
                </div>
                <p id="outcome" role="status"></p>
              </form>
            </section>
            <section class="card" aria-labelledby="log-title">
              <h2 id="log-title">Log <span id="log-count" class="count">0</span></h2>
              <div class="tools" role="group" aria-label="What the log shows">
                <input id="filter" type="search" aria-label="Filter the log" aria-describedby="log-count" placeholder="Filter" spellcheck="false" autocapitalize="off">
                <select id="kind" aria-label="Entries in the log">
                  <option value="">Everything</option>
                  <option value="event">Events</option>
                  <option value="connected disconnected">Connections</option>
                  <option value="subscribed unsubscribed">Subscriptions</option>
                  <option value="occupied vacated">Channels</option>
                  <option value="refused">Refusals</option>
                </select>
                <button id="pause" type="button" class="plain">Pause</button>
                <button id="clear" type="button" class="plain">Clear</button>
              </div>
              <p id="log-note" class="empty"></p>
              <div id="log-box" class="box" role="region" aria-labelledby="log-title" hidden><ol id="log" class="list" reversed></ol></div>
            </section>
          </div>
          <div class="column">
            <section class="card" aria-labelledby="channels-title">
              <h2 id="channels-title">Channels <span id="channels-count" class="count">0</span></h2>
              <div id="channels-tools" class="tools" hidden>
                <input id="channels-search" type="search" aria-label="Search for channels" aria-describedby="channels-count" placeholder="Search" spellcheck="false" autocapitalize="off">
                <select id="order" aria-label="Order of channels"><option value="name">By name</option><option value="size">Most connections</option></select>
              </div>
              <p id="no-channels" class="empty">Nobody is subscribed to a channel.</p>
              \#(list("channels"))
            </section>
            <section class="card" aria-labelledby="connections-title">
              <h2 id="connections-title">Connections <span id="connections-count" class="count">0</span></h2>
              <div id="connections-tools" class="tools" hidden>
                <input id="connections-search" type="search" aria-label="Search for connections" aria-describedby="connections-count" placeholder="Search by user, socket ID or channel" spellcheck="false" autocapitalize="off">
              </div>
              <div id="no-connections" class="empty"><p>No client is connected. To connect one:</p><code id="hint"></code></div>
              \#(list("connections"))
            </section>
          </div>
        </main>
        """#

    /// A list that is shown in parts.
    private static func list(_ list: String) -> String {
        """
        <p id="\(list)-none" class="empty" hidden>Nothing matches.</p>
        <div id="\(list)-pager" class="pager" role="group" aria-label="More \(list)" hidden>
          <button id="\(list)-previous" type="button" class="plain">Previous</button>
          <span id="\(list)-range"></span>
          <button id="\(list)-next" type="button" class="plain">Next</button>
        </div>
        <div id="\(list)-box" class="box" role="region" aria-labelledby="\(list)-title" hidden><ul id="\(list)" class="list"></ul></div>
        """
    }
}

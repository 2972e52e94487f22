"""Invented companies: domain -> title, load profile, business kind, resource owners, scopes.

Scope line:  scope price roles weight : METHOD path | METHOD path ...
roles: u = end user session, s = staff session, a = admin session, k = api key integration, b = back-end service
owners: p = public catalogue, u = belongs to a user, default = belongs to an account
"""

from typing import Any

D: dict[str, Any] = {}


def dom(key: Any, title: Any, profile: Any, kind: Any, owners: Any, text: Any) -> Any:
    scopes = []
    for line in text.strip().splitlines():
        head, routes = line.split(" : ", 1)
        scope, price, roles, weight = head.split()
        scopes.append((scope, int(price), roles, float(weight), [tuple(r.strip().split(" ", 1)) for r in routes.split("|")]))
    D[key] = dict(title=title, profile=profile, kind=kind, owners=dict(o.split("=") for o in owners.split()), scopes=scopes)


dom(
    "shop",
    "online shop for outdoor gear",
    "consumer",
    "b2c",
    "product=p category=p order=u basket=u return=u address=u voucher=p",
    """
products:read 0 uskab 30 : GET /products | GET /products/{product} | GET /products/{product}/reviews | GET /categories/{category}
products:write 0 ab 3 : POST /products | PUT /products/{product} | DELETE /products/{product}
basket:write 0 u 14 : GET /baskets/{basket} | PUT /baskets/{basket} | POST /baskets | DELETE /baskets/{basket}
orders:read 0 uskab 12 : GET /orders | GET /orders/{order} | GET /orders/{order}/tracking
orders:write 0 uskb 6 : POST /orders | PATCH /orders/{order}
orders:refund 0 sa 2 : POST /orders/{order}/refunds
profile:self 0 us 6 : GET /me | PATCH /me | GET /me/addresses/{address}
returns:write 0 us 2 : POST /returns | GET /returns/{return}
search:run 1 uk 8 : GET /search
reports:run 5 ak 1 : POST /reports | GET /reports/{report}
stock:sync 2 kb 6 : PUT /stock/{product} | GET /stock
customers:admin 0 ab 1 : GET /customers | GET /customers/{customer} | DELETE /customers/{customer}
""",
)

dom(
    "freight",
    "freight and parcel logistics",
    "office",
    "b2b",
    "depot=p",
    """
shipments:read 0 uskab 25 : GET /shipments | GET /shipments/{shipment} | GET /shipments/{shipment}/events
shipments:write 2 ukb 10 : POST /shipments | PATCH /shipments/{shipment} | DELETE /shipments/{shipment}
labels:print 3 uk 8 : POST /shipments/{shipment}/labels | GET /labels/{label}
tracking:push 0 b 12 : POST /scans | PUT /positions/{vehicle}
vehicles:read 0 usab 8 : GET /vehicles | GET /vehicles/{vehicle} | GET /vehicles/{vehicle}/trips
routes:plan 15 ka 2 : POST /route-plans | GET /route-plans/{plan}
quotes:create 1 uk 6 : POST /quotes | GET /quotes/{quote}
depots:read 0 uskb 6 : GET /depots | GET /depots/{depot}
invoices:read 0 uska 3 : GET /invoices | GET /invoices/{invoice} | GET /invoices/{invoice}/pdf
invoices:run 0 b 1 : POST /invoice-runs | POST /invoices
claims:handle 0 sa 2 : GET /claims | GET /claims/{claim} | PATCH /claims/{claim}
archive:purge 0 b 0.2 : DELETE /archive/{document}
""",
)

dom(
    "clinic",
    "practice software for clinics",
    "office",
    "b2b",
    "drug=p",
    """
patients:read 0 usb 24 : GET /patients | GET /patients/{patient} | GET /patients/{patient}/allergies
patients:write 0 us 6 : POST /patients | PUT /patients/{patient}
appointments:read 0 uskb 20 : GET /appointments | GET /appointments/{appointment} | GET /calendar/{date}
appointments:write 0 usk 9 : POST /appointments | PATCH /appointments/{appointment} | DELETE /appointments/{appointment}
lab:results 2 ukb 8 : GET /lab/results | GET /lab/results/{result}
lab:order 8 u 3 : POST /lab/orders | GET /lab/orders/{laborder}
prescriptions:issue 1 u 5 : POST /prescriptions | GET /prescriptions/{prescription}
drugs:lookup 1 uk 8 : GET /drugs | GET /drugs/{drug} | GET /drugs/{drug}/interactions
billing:read 0 sak 3 : GET /claims | GET /claims/{claim}
billing:run 0 b 1 : POST /billing/runs | POST /claims
documents:archive 0 b 1 : GET /documents/{document} | DELETE /documents/{document}
audit:read 0 a 1 : GET /audit/{date}
""",
)

dom(
    "pay",
    "payment service provider",
    "allday",
    "platform",
    "currency=p",
    """
payments:create 1 kb 25 : POST /payments | POST /payments/{payment}/capture
payments:read 0 uskab 22 : GET /payments | GET /payments/{payment}
refunds:create 1 uska 4 : POST /refunds | GET /refunds/{refund}
payouts:read 0 uska 5 : GET /payouts | GET /payouts/{payout}
payouts:run 0 b 1 : POST /payout-runs | PATCH /payouts/{payout}
customers:read 0 ukb 10 : GET /customers | GET /customers/{customer}
customers:write 0 kb 6 : POST /customers | PATCH /customers/{customer} | DELETE /customers/{customer}
cards:tokenize 2 k 8 : POST /card-tokens
disputes:handle 0 sa 2 : GET /disputes | GET /disputes/{dispute} | POST /disputes/{dispute}/evidence
rates:read 0 uk 8 : GET /rates | GET /rates/{currency}
statements:export 20 uk 1 : POST /statements | GET /statements/{statement}
webhooks:manage 0 uak 1 : GET /webhooks | PUT /webhooks/{webhook}
""",
)

dom(
    "geo",
    "maps and geocoding provider",
    "allday",
    "platform",
    "place=p tileset=p",
    """
geocode:forward 1 uk 30 : GET /geocode
geocode:reverse 1 uk 18 : GET /reverse
places:read 0 ukb 14 : GET /places | GET /places/{place} | GET /places/{place}/photos
places:write 0 sab 2 : POST /places | PUT /places/{place} | DELETE /places/{place}
tiles:read 0 uk 30 : GET /tilesets | GET /tilesets/{tileset} | GET /tilesets/{tileset}/{z}/{n}
directions:run 4 uk 8 : POST /directions | GET /directions/{direction}
matrix:run 12 k 2 : POST /matrices | GET /matrices/{matrix}
isochrones:run 6 k 2 : POST /isochrones
projects:manage 0 uak 2 : GET /projects | POST /projects | PATCH /projects/{project} | DELETE /projects/{project}
usage:read 0 uka 3 : GET /usage/{month} | GET /usage
corrections:review 0 s 2 : GET /corrections | PATCH /corrections/{correction}
imports:run 0 b 1 : POST /imports | GET /imports/{import}
""",
)

dom(
    "school",
    "learning platform for schools",
    "school",
    "b2b",
    "course=p lesson=p submission=u note=u",
    """
courses:read 0 uskab 26 : GET /courses | GET /courses/{course} | GET /courses/{course}/outline
lessons:read 0 usk 24 : GET /lessons/{lesson} | GET /lessons/{lesson}/media
submissions:self 0 u 12 : POST /submissions | GET /submissions | GET /submissions/{submission} | PUT /submissions/{submission}
notes:self 0 u 8 : GET /notes | POST /notes | DELETE /notes/{note}
grades:read 0 sab 6 : GET /grades | GET /grades/{grade}
grades:write 0 sb 4 : POST /grades | PATCH /grades/{grade}
roster:sync 0 kb 3 : GET /rosters | GET /rosters/{roster} | PUT /rosters/{roster}
plagiarism:check 10 sk 1 : POST /similarity-checks | GET /similarity-checks/{check}
video:transcode 8 sb 1 : POST /transcodes | GET /transcodes/{transcode}
messages:send 1 sa 2 : POST /messages
users:admin 0 ab 1 : GET /users | GET /users/{member} | DELETE /users/{member}
""",
)

dom(
    "meter",
    "energy metering for utilities",
    "allday",
    "platform",
    "tariff=p",
    """
readings:push 0 kb 40 : POST /readings | PUT /meters/{meter}/readings/{date}
readings:read 1 ukb 14 : GET /meters/{meter}/readings | GET /readings
meters:read 0 uskab 14 : GET /meters | GET /meters/{meter} | GET /meters/{meter}/status
meters:configure 0 sab 2 : PATCH /meters/{meter} | POST /meters | DELETE /meters/{meter}
tariffs:read 0 ukb 6 : GET /tariffs | GET /tariffs/{tariff}
forecast:run 25 uk 2 : POST /forecasts | GET /forecasts/{forecast}
alerts:read 0 usk 6 : GET /alerts | GET /alerts/{alert}
alerts:ack 0 us 2 : PATCH /alerts/{alert}
firmware:fetch 0 k 2 : GET /firmware/{firmware} | GET /firmware
billing:run 0 b 1 : POST /settlements | GET /settlements/{settlement}
grid:export 10 kb 1 : POST /exports | GET /exports/{export}
""",
)

dom(
    "stream",
    "music and podcast streaming",
    "evening",
    "b2c",
    "track=p album=p artist=p playlist=u",
    """
catalog:read 0 uskb 34 : GET /tracks/{track} | GET /albums/{album} | GET /artists/{artist} | GET /artists/{artist}/top
catalog:write 0 ab 2 : POST /albums | PUT /tracks/{track} | DELETE /albums/{album}
playback:start 0 u 26 : POST /plays | GET /streams/{track} | PUT /me/position
library:self 0 u 14 : GET /me/library | PUT /me/library/{track} | DELETE /me/library/{track}
playlists:read 0 usk 10 : GET /playlists | GET /playlists/{playlist}
playlists:write 0 u 4 : POST /playlists | PATCH /playlists/{playlist} | DELETE /playlists/{playlist}
search:run 0 uk 12 : GET /search
recommend:run 1 uk 6 : GET /recommendations
stats:artist 3 k 2 : GET /stats/{artist} | POST /stats/exports
royalties:run 0 b 1 : POST /royalty-runs | POST /statements | GET /statements/{statement}
support:account 0 s 3 : GET /accounts/{member} | PATCH /accounts/{member}
""",
)

dom(
    "lingo",
    "translation service",
    "office",
    "platform",
    "language=p",
    """
translate:text 1 uk 40 : POST /translate
translate:document 30 uk 3 : POST /documents | GET /documents/{document} | GET /documents/{document}/result
detect:run 1 k 10 : POST /detect
glossary:read 0 ukab 8 : GET /glossaries | GET /glossaries/{glossary} | GET /glossaries/{glossary}/terms
glossary:write 0 uk 3 : POST /glossaries | PUT /glossaries/{glossary} | DELETE /glossaries/{glossary}
memory:read 0 ukb 8 : GET /memories | GET /memories/{memory} | GET /segments
memory:write 0 kb 4 : POST /memories | POST /segments
languages:read 0 uskb 6 : GET /languages | GET /languages/{language}
review:work 0 sa 4 : GET /reviews | GET /reviews/{review} | PATCH /reviews/{review}
usage:read 0 uka 2 : GET /usage | GET /usage/{month}
models:train 200 k 0.1 : POST /models | GET /models/{model}
retention:purge 0 b 0.3 : DELETE /documents/{document}
""",
)

dom(
    "ticket",
    "ticketing for concerts and sport",
    "evening",
    "b2c",
    "event=p venue=p ticket=u booking=u",
    """
events:read 0 uskab 34 : GET /events | GET /events/{event} | GET /events/{event}/seats | GET /venues/{venue}
events:write 0 ab 1 : POST /events | PATCH /events/{event}
bookings:write 0 uk 10 : POST /bookings | PATCH /bookings/{booking} | DELETE /bookings/{booking}
bookings:read 0 uskb 10 : GET /bookings | GET /bookings/{booking}
tickets:read 0 usk 10 : GET /tickets | GET /tickets/{ticket} | GET /tickets/{ticket}/qr
tickets:scan 0 kb 8 : POST /scans | GET /gates/{gate}
resale:offer 2 u 2 : POST /offers | GET /offers | DELETE /offers/{offer}
payouts:run 0 b 1 : POST /payouts | GET /payouts/{payout}
refunds:issue 0 sa 2 : POST /refunds | GET /refunds/{refund}
analytics:run 10 k 1 : POST /analyses | GET /analyses/{analysis}
""",
)

dom(
    "estate",
    "property management",
    "office",
    "b2b",
    "city=p",
    """
units:read 0 uskab 22 : GET /units | GET /units/{unit} | GET /units/{unit}/meters
units:write 0 uab 3 : POST /units | PUT /units/{unit} | DELETE /units/{unit}
tenants:read 0 usab 14 : GET /tenants | GET /tenants/{tenant}
tenants:write 0 us 4 : POST /tenants | PATCH /tenants/{tenant}
leases:read 0 uskb 10 : GET /leases | GET /leases/{lease} | GET /leases/{lease}/pdf
leases:sign 5 u 1 : POST /leases | POST /leases/{lease}/signatures
repairs:manage 0 uks 10 : GET /repairs | POST /repairs | PATCH /repairs/{repair} | GET /repairs/{repair}
rents:run 0 b 2 : POST /rent-runs | POST /debits
listing:publish 4 uk 2 : POST /listings | DELETE /listings/{listing}
valuation:run 12 uk 1 : POST /valuations | GET /valuations/{valuation}
files:purge 0 b 0.2 : DELETE /files/{file}
""",
)

dom(
    "game",
    "mobile game back end",
    "evening",
    "b2c",
    "item=p level=p character=u match=u",
    """
player:self 0 u 24 : GET /me | PATCH /me | GET /me/inventory
characters:self 0 u 12 : GET /characters | GET /characters/{character} | PUT /characters/{character} | DELETE /characters/{character}
matches:play 0 u 24 : POST /matches | GET /matches/{match} | PUT /matches/{match}
levels:read 0 uk 12 : GET /levels | GET /levels/{level} | GET /leaderboards/{level}
store:read 0 usk 8 : GET /items | GET /items/{item}
store:buy 3 u 3 : POST /purchases | GET /purchases/{purchase}
chat:send 0 u 10 : POST /chat | GET /chat
moderation:act 0 sa 3 : GET /moderation-cases | GET /moderation-cases/{case} | POST /bans | DELETE /bans/{ban}
season:admin 0 b 1 : POST /seasons | POST /rewards
telemetry:push 0 b 10 : POST /telemetry
telemetry:query 6 ak 1 : POST /queries | GET /queries/{query}
""",
)

dom(
    "hr",
    "payroll and staff planning",
    "office",
    "b2b",
    "holiday=p payslip=u request=u",
    """
employees:read 0 uskab 18 : GET /employees | GET /employees/{employee} | GET /employees/{employee}/contract
employees:write 0 ab 3 : POST /employees | PATCH /employees/{employee} | DELETE /employees/{employee}
shifts:read 0 uskb 20 : GET /shifts | GET /shifts/{shift} | GET /rota/{date}
shifts:write 0 sab 5 : POST /shifts | PUT /shifts/{shift} | DELETE /shifts/{shift}
time:clock 0 uk 16 : POST /clockings | GET /clockings
leave:request 0 u 5 : POST /requests | GET /requests/{request} | DELETE /requests/{request}
leave:approve 0 sa 3 : PATCH /approvals/{approval} | GET /approvals
payslips:self 0 u 5 : GET /payslips | GET /payslips/{payslip}
payroll:run 0 b 1 : POST /payroll-runs | POST /payslips
tax:file 15 bk 1 : POST /tax-filings | GET /tax-filings/{filing}
plans:optimize 20 ka 1 : POST /optimisations | GET /optimisations/{optimisation}
""",
)

dom(
    "weather",
    "weather and air quality data",
    "allday",
    "platform",
    "station=p model=p",
    """
forecast:read 1 uk 36 : GET /forecast | GET /forecast/{station}
stations:read 0 uskb 16 : GET /stations | GET /stations/{station} | GET /stations/{station}/latest
observations:push 0 b 20 : POST /observations | PUT /stations/{station}/observations/{date}
history:read 3 k 6 : GET /stations/{station}/history | GET /climate/{month}
warnings:read 0 uk 14 : GET /warnings | GET /warnings/{warning}
warnings:issue 0 s 1 : POST /warnings | PATCH /warnings/{warning} | DELETE /warnings/{warning}
maps:render 5 uk 4 : POST /maps | GET /maps/{map}
subscriptions:manage 0 uka 2 : GET /subscriptions | POST /subscriptions | DELETE /subscriptions/{subscription}
models:run 0 b 1 : POST /model-runs | GET /model-runs/{run}
bulk:export 40 k 0.4 : POST /bulk | GET /bulk/{bulk}
quality:review 0 sa 2 : GET /quality | PATCH /quality/{flag}
""",
)

"""The one table of thresholds: from which number on something is a finding, and the healthy log that fixed the number."""

from __future__ import annotations

from typing import NamedTuple

from .._count import bulk
from .._rows import Rows
from . import denials, failures, spread, switch, timelines, tokens
from .numbers import UNUSED_DAYS


class Threshold(NamedTuple):
    """A number that findings depend on: the kinds of findings, its name and value, what it counts, and the healthy log because of which it
    isn't smaller.
    """

    findings: str
    name: str
    value: float
    unit: str
    healthy: str


# Whether the log can be trusted.
GAP_SECONDS, GAP_CALLS, GAP_ALIKE, GAP_CALLERS, GAP_TAIL, GAP_PART, GAP_LONG = 1_800, 40, 2, 3, 3, 1 / 3, 7_200
THIN_FACTOR, THIN_CALLERS, THIN_HOURS, THIN_CALLS, THIN_STEADY, THIN_FEW, THIN_DAY = 0.4, 3, 3, 15, 5, 4, 24
THIN_ALIKE, THIN_OFTEN, THIN_SPREAD, THIN_MOST, THIN_REST, THIN_STEP, THIN_WEEKS = 8, 9, 2.5, 0.6, 0.75, 0.5, 2
END_PART, END_CALLS, END_HOURS, END_GONE, END_STARTED, END_STEADY, END_TORN = 0.05, 200, 2, 1, 2, 300, 1_800
END_ADDRESS, END_EARLY, END_LIVED, END_ONCE, END_OFTEN, END_LOST, END_WIDE = 0.2, 1 / 16, 3, 1 / 4, 0.8, 0.5, 6
COPY_PART, COPY_ROWS, COPY_HOUR_PART, COPY_APART, COPY_HOUR_ROWS, COPY_ALIKE = 0.02, 20, 0.5, 50, 10, 0.8
CUT_ROWS, CUT_PART, CUT_ENDS = 20, 0.9, 3
SPELT_ROWS, SPELT_PART, CLASS_ROWS, RENAMED_ACCOUNTS = 20, 0.5, 20, 2
STEP_ROWS, STEP_BACK, STEP_PART = 20, 6, 0.8
ZONE_SOURCES, ZONE_CALLS, ZONE_DAYS, ZONE_HOURS, ZONE_UNLIKE, ZONE_CLOSER = 64, 4_000, 2, 14, 0.15, 3
RENAMED_USERS, RENAMED_PART, RESPELT_CALLERS, RESPELT_PART, RESPELT_MACHINES = 20, 0.05, 3, 1 / 5, 1 / 8
APART_CALLS, APART_ADDRESSES, APART_PART = 100, 3, 0.5
# Charged calls that may have failed.
FAILED_PART, FAILED_ERRORS = 0.2, 0.1
# What is new.
LEARNT_PART, LEARNT_DAYS, NEW_MOST, NEW_OLD_CALLS, NEW_HOUR_DAYS, NEW_RARE, NEW_PLACES, NEW_RUSH = 1 / 5, 1, 5, 50, 3, 5, 3, 100
# What calls are about.
OBJECTS, OBJECTS_PART, REPEATS, REPEATS_FACTOR, REPEATS_PART = 100, 0.5, 20, 4, 0.02
READ_OBJECTS, READ_FACTOR, READ_USERS, READ_MOST = 500, 8, 10, 2
GUESSES, GUESSES_PART = 100, 0.9
NAMES_AT_ADDRESS, USERS_AT_ADDRESS, USERS_HOURS, USERS_ALIKE = 50, 20, 3, 3
TURNS, TURN_CALLS = 6, 10
# What statuses mean.
REDIRECTED_CALLS, REDIRECTED_PART, REDIRECTED_ROUTE, REDIRECTED_ROUTES = 100, 0.9, 10, 3
LIMITED_CALLS, LIMITED_PART, LIMITED_HOURS = 100, 0.5, 2
BASE_CALLS, BASE_LEFT_OUT, BASE_PART, LASTING_EDGE, OLD_CALLERS = 50, 20, 0.9, 0.1, 3
ROTATION_SECONDS = 180
ODD_CALLS, ODD_PART, ODD_FACTOR = 20, 0.8, 8
MASKED_CALLS, MASKED_PART, MASKED_CALLERS, MASKED_OTHERS = 100, 0.9, 3, 4
DAY_ROWS, DAY_PART, DAY_COPIES = 20, 0.5, 8
LOST_CALLERS, LOST_CALLS = 3, 30
BROKEN_CALLS, BROKEN_SECONDS = 20, 3_600
TRIAL_CALLERS, TRIAL_PART = 20, 0.1
RENEWED_SECONDS, RENEWED_AGAIN, RENEWED_PART, RENEWED_REST, RENEWED_CALLS, RENEWED_NEXT, RENEWED_BETWEEN = 900, 120, 0.9, 4, 0.5, 3_600, 3
OUTAGE_SECONDS, OUTAGE_CALLS, OUTAGE_PART, ILL_SECONDS, ILL_PART, PLANNED_PART = 3_600, 100, 0.25, 900, 0.5, 0.99
LEFT_PART, LEFT_RATE = 0.02, 0.1
STOPPED_CALLS = 20
SERIES_STEP, SERIES_CALLS, SERIES_HOURS = 2, 1.5, 3
# What a ledger's entries show.
ACCOUNT_CALLS, ACCOUNT_PART, ENDS_CALLS, ENDS_SECONDS = 10, 0.95, 10, 3_600
GRANTS, GRANTS_FACTOR, MANY_GRANTS, MANY_GRANTS_FACTOR, MANY_ACCOUNTS = 10, 8, 10, 5, 20
SUM_CALLS, SUM_PART = 20, 0.02
LACKING_HOLDS, LACKING_PART, PRICE_CALLS, PRICE_PART, PRICE_HOURS, UNHELD = 20, 0.1, 10, 0.95, 0.6, 3


def table() -> Rows[Threshold]:
    """All thresholds of signs, with the healthy logs that fixed them."""
    rows = (
        ("rows_missing", "shortest time without rows", GAP_SECONDS, "seconds", "a job that runs every half hour and is silent in between"),
        (
            "rows_missing",
            "fewest calls just before and after; twice as many, if no rows are missing for an hour",
            GAP_CALLS,
            "calls",
            "a small service at night",
        ),
        (
            "rows_missing",
            "as long silences that make one usual, in hours that other days leave free",
            GAP_ALIKE,
            "silences",
            "office hours: a silence each night",
        ),
        (
            "rows_missing",
            "other silences that are nearly as long, with which one is only the longest of many",
            GAP_TAIL,
            "silences",
            "a small service in the evening, with silences of 35, 20, 17, 15 and 14 minutes",
        ),
        ("rows_missing", "smallest part of a silence that is nearly as long", GAP_PART, "of the time", "a small service in the evening"),
        ("rows_missing", "shortest silence that isn't compared so", GAP_LONG, "seconds", "a small service in the evening"),
        ("rows_missing", "fewest callers with calls on both sides, if the log names any", GAP_CALLERS, "callers", "a night in which only two jobs call"),
        ("thinner_sample", "largest rate after, of the rate before", THIN_FACTOR, "of the rate", "an evening, in which all callers slow down within hours"),
        ("thinner_sample", "fewest callers that change alike", THIN_CALLERS, "callers", "one large client that leaves"),
        (
            "thinner_sample",
            "fewest of them that call in nearly every hour, if others change otherwise",
            THIN_STEADY,
            "callers",
            "a holiday on which two jobs pause",
        ),
        ("thinner_sample", "hours before and after that are compared", THIN_HOURS, "hours", "a lunch hour"),
        (
            "thinner_sample",
            "hours before and after that are compared, of callers that call in nearly every hour",
            THIN_DAY,
            "hours",
            "a night, which comes each day",
        ),
        ("thinner_sample", "fewest of ten busy callers that change alike", THIN_ALIKE, "of 10 callers", "a service of which some clients stop at noon"),
        (
            "thinner_sample",
            "fewest of ten hours in which a caller calls that calls in nearly every hour, and of ten such callers that change alike",
            THIN_OFTEN,
            "of 10",
            "people, who work for an hour and then not",
        ),
        (
            "thinner_sample",
            "times more or less than all together that a caller's part can be",
            THIN_SPREAD,
            "times",
            "an evening, in which each caller slows down by its own part",
        ),
        ("thinner_sample", "largest part that a caller makes after, of its calls before", THIN_MOST, "of the calls", "a caller that goes on as before"),
        (
            "thinner_sample",
            "largest part that the busiest later hour has, of the usual one",
            THIN_REST,
            "of the calls",
            "an evening, which is followed by a morning",
        ),
        (
            "thinner_sample",
            "largest part that the hour after has, of the hour before",
            THIN_STEP,
            "of the calls",
            "an evening, in which callers slow down little by little",
        ),
        (
            "thinner_sample",
            "weeks before in which no day has as few calls of the callers that call in nearly every hour",
            THIN_WEEKS,
            "weeks",
            "a business that lives at weekends, on its Monday",
        ),
        ("thinner_sample", "fewest calls of each that are left", THIN_FEW, "calls", "callers that come once a day"),
        ("thinner_sample", "fewest calls of each in the hours before", THIN_CALLS, "calls", "callers with a call now and then"),
        (
            "source_ends",
            "smallest part of the rows until an instance or a file ends",
            END_PART,
            "of the rows",
            "a pod that lived for minutes",
        ),
        ("source_ends", "smallest part of all rows, for an address", END_ADDRESS, "of the rows", "a customer that leaves"),
        (
            "source_ends",
            "smallest part of the log between its end and the log's",
            END_EARLY,
            "of the log",
            "a long log, in which a job ends an hour before the log does",
        ),
        ("source_ends", "fewest hours in which it has rows", END_LIVED, "hours", "a function that lives for an hour or two"),
        ("source_ends", "shortest time of an address's rows, of the time after it", END_ONCE, "of the time", "a run of each month, which is over"),
        ("source_ends", "smallest part of the hours until its end in which it has rows", END_OFTEN, "of the hours", "an instance that works by night"),
        ("source_ends", "smallest part of its rows that nobody takes over", END_LOST, "of the rows", "an instance whose calls the others serve since then"),
        ("source_ends", "fewest hours before and after the end in which steady callers are compared", END_WIDE, "hours", "a lunch hour"),
        ("source_ends", "fewest hours between its end and the log's", END_HOURS, "hours", "a log that ends while files are rotated"),
        (
            "source_ends",
            "instances or files that begin in the middle, with which ends are usual",
            END_STARTED,
            "instances",
            "pods that follow the load, or are replaced with each deployment",
        ),
        ("source_ends", "fewest calls of callers that call all the time, to compare them", END_STEADY, "calls", "a few jobs, of which some end"),
        (
            "unread_source",
            "longest time between its last readable row and the first unreadable one",
            END_TORN,
            "seconds",
            "an instance that writes a row now and then",
        ),
        ("source_ends", "most ends after which the next day is not compared", END_GONE, "ends", "a night business, whose instances are replaced by day"),
        ("copied_rows", "smallest part of the rows, with fractions of seconds", COPY_PART, "of the rows", "clients that send a call twice in one millisecond"),
        ("copied_rows", "smallest part of the rows of an hour", COPY_HOUR_PART, "of the rows", "a client that polls several times in a second"),
        (
            "copied_rows",
            "fewest rows between a row and its copy, if there are few copies",
            COPY_APART,
            "rows",
            "clients that send a call twice in one millisecond",
        ),
        ("copied_rows", "fewest copies in an hour", COPY_HOUR_ROWS, "rows", "a night in which a client polls twice in a second"),
        (
            "copied_rows",
            "smallest part of the copied rows that are there equally often",
            COPY_ALIKE,
            "of the rows",
            "clients that try a call again, some often",
        ),
        ("cut_column", "fewest values that end in the middle of a name", CUT_ROWS, "calls", "a client with a misspelt scope"),
        ("cut_column", "smallest part of them with one length", CUT_PART, "of the values", "clients with different misspelt scopes"),
        (
            "cut_column",
            "fewest different ends, except at a length at which systems cut",
            CUT_ENDS,
            "ends",
            "scanners that ask for the start of each path, and a client with one misspelt scope",
        ),
        ("other_spelling", "fewest served calls with a value that cannot be", SPELT_ROWS, "calls", "a test of a new kind of token"),
        (
            "other_spelling",
            "fewest rows that would have other statuses than classes, at the rate of the log",
            CLASS_ROWS,
            "rows",
            "an instance that is stopped soon after its last such row",
        ),
        (
            "other_spelling",
            "fewest accounts of others before a caller's name is another column's",
            RENAMED_ACCOUNTS,
            "accounts",
            "a client that is charged to another account since a time",
        ),
        ("other_spelling", "fewest users on both sides of a usual time, to find one that has none", RENAMED_USERS, "users", "a service whose users come once"),
        ("other_spelling", "fewest callers in two spellings", RESPELT_CALLERS, "callers", "a service whose users write their names in any case"),
        (
            "other_spelling",
            "smallest part of all callers in two spellings",
            RESPELT_PART,
            "of the callers",
            "a service whose users write their names in any case",
        ),
        (
            "other_spelling",
            "smallest part of all machines in two spellings, if fewer callers are",
            RESPELT_MACHINES,
            "of the machines",
            "a service whose users write their names in any case",
        ),
        ("other_system", "fewest rows of instances with clients of their own", APART_CALLS, "rows", "functions that live for minutes"),
        ("other_system", "fewest addresses of their clients", APART_ADDRESSES, "addresses", "an instance to which one job of its own network is pinned"),
        (
            "other_system",
            "largest part of the rows of all others; half of it if they are in most of the log",
            APART_PART,
            "of the rows",
            "two regions, each with its own clients",
        ),
        ("mixed_zones", "fewest steps of whole hours between rows", STEP_ROWS, "steps", "several files, each in its own order"),
        ("mixed_zones", "fewest of them in each direction", STEP_BACK, "steps", "a clock that is set once"),
        (
            "mixed_zones",
            "smallest part of the steps of whole quarters of an hour with one size",
            STEP_PART,
            "of the steps",
            "rows that are written at the end of long calls",
        ),
        ("mixed_zones", "most instances or files that are compared hour by hour", ZONE_SOURCES, "sources", "functions that live for minutes"),
        ("mixed_zones", "fewest rows, to compare them", ZONE_CALLS, "rows", "a small service, of which each instance has other customers"),
        ("mixed_zones", "shortest log in which hours are compared", ZONE_DAYS, "days", "a day with a newsletter, which one of the instances answers"),
        ("mixed_zones", "most hours that one is ahead or behind", ZONE_HOURS, "hours", "a night that looks like the next day's"),
        ("mixed_zones", "smallest difference of the hours of one from those of all others", ZONE_UNLIKE, "of the rows", "instances that rise and fall alike"),
        ("mixed_zones", "times as much alike they are when moved", ZONE_CLOSER, "times", "instances of different customers"),
        ("new", "first part of the log, with which the rest is compared", LEARNT_PART, "of the log", "a service whose jobs run each few days"),
        ("new", "shortest such part, or a third of the log", LEARNT_DAYS, "days", "a log of a day: the evening is not new"),
        ("new", "fewest calls within two hours from a new network that matter", NEW_RUSH, "calls", "people who travel"),
        ("new", "most new callers or values of one kind", NEW_MOST, "values", "a service whose users come and go"),
        ("new", "fewest calls of a caller before", NEW_OLD_CALLS, "calls", "a client that starts slowly"),
        ("new", "fewest days before an hour of the day is new", NEW_HOUR_DAYS, "days", "a client that works late once"),
        ("new", "most callers with a scope that makes a new one of them matter, or one in 20", NEW_RARE, "callers", "a scope that all users have"),
        ("new", "most networks of a client that has fixed addresses", NEW_PLACES, "networks", "clients in a cloud, whose addresses change"),
        (
            "charged_failures",
            "smallest part of the calls that consume orbs",
            FAILED_PART,
            "of the calls",
            "a service that rejects some requests, and doesn't charge them",
        ),
        (
            "charged_failures",
            "smallest part of them that the server answers with 5xx outside of outages, for more than a fact",
            FAILED_ERRORS,
            "of the calls",
            "a service that is asked for a result every few seconds, and answers with 404 until it is there",
        ),
        ("unused_grants", "days of logs without a use before a grant is proposed to be revoked", UNUSED_DAYS, "days", "a job that runs each quarter"),
        ("enumeration", "fewest different objects", OBJECTS, "objects", "a client that synchronises what others deleted"),
        ("enumeration", "smallest part of the calls that fails", OBJECTS_PART, "of the calls", "a client that looks before it writes"),
        ("enumeration", "largest step from one id of a series to the next", SERIES_STEP, "ids", "objects that were made at different times"),
        ("enumeration", "most calls for each object of a series", SERIES_CALLS, "calls", "a job that reads the same objects each night"),
        ("enumeration", "most hours from the first to the last of a series", SERIES_HOURS, "hours", "a job that reads new objects each night"),
        ("many_objects", "fewest different objects of a route", READ_OBJECTS, "objects", "a user who reads a list to its end"),
        ("many_objects", "times as many as nine in ten other users of the route", READ_FACTOR, "times", "a user who works all day, where others come once"),
        ("many_objects", "fewest users of the route, to compare them", READ_USERS, "users", "a route of one department"),
        ("many_objects", "most users who read so many, so that it isn't usual", READ_MOST, "users", "a service of which some users work all day"),
        ("repeated_object", "fewest changes of one object", REPEATS, "calls", "a user who edits one draft"),
        (
            "repeated_object",
            "times the next most changed object of the route",
            REPEATS_FACTOR,
            "times",
            "objects of which some are changed often, and some more often",
        ),
        ("repeated_object", "smallest part of the caller's calls in this time", REPEATS_PART, "of the calls", "a load test, which calls all routes"),
        ("guesses", "fewest refused calls in the whole log", GUESSES, "calls", "users who mistype their password"),
        ("guesses", "smallest part of the calls that is refused", GUESSES_PART, "of the calls", "a client that renews its token after each 401"),
        ("many_names", "fewest callers of one address, all refused", NAMES_AT_ADDRESS, "callers", "a proxy of a company"),
        (
            "many_users",
            "fewest callers within hours, usually elsewhere",
            USERS_AT_ADDRESS,
            "callers",
            "a conference: its guests' callers are new there, but over a day",
        ),
        ("many_users", "most addresses with a third as many such callers", USERS_ALIKE, "addresses", "phones, which share the addresses of their networks"),
        ("unequal_answers", "fewest turns between 401 and success", TURNS, "turns", "a token that is renewed late, once"),
        ("redirected", "fewest redirected calls with a token", REDIRECTED_CALLS, "calls", "a route that moved"),
        ("redirected", "smallest part of the calls", REDIRECTED_PART, "of the calls", "a page that redirects some of its calls"),
        ("redirected", "fewest redirected calls of a route, if not all routes are", REDIRECTED_ROUTE, "calls", "a route that redirects now and then"),
        (
            "redirected",
            "fewest routes of which a part of the calls is redirected for a time",
            REDIRECTED_ROUTES,
            "routes",
            "a route that redirects its callers to another host during a deployment",
        ),
        ("rate_limited", "smallest part of the calls from the first to the last", LIMITED_PART, "of the calls", "a client that reaches its limit each minute"),
        ("lost_base_path", "fewest calls below one unknown path", BASE_CALLS, "calls", "a scanner that tries one application"),
        (
            "lost_base_path",
            "fewest calls that only lack the base path, or have another spelling of it",
            BASE_LEFT_OUT,
            "calls",
            "a person who tries a path by hand",
        ),
        (
            "lost_base_path",
            "largest part of the log before such calls begin, or after they end, that makes them usual",
            LASTING_EDGE,
            "of the log",
            "an old version of an application, whose other calls are served",
        ),
        (
            "broken_client",
            "fewest callers of a path without a route, in the whole log, of whom none is broken by it",
            OLD_CALLERS,
            "callers",
            "an old version of an application",
        ),
        ("refused_though_allowed", "longest refusals that stay low", ROTATION_SECONDS, "seconds", "a rotation of keys, until all servers know the new one"),
        (
            "refused_though_allowed",
            "longest time until a caller that renews its token is served",
            RENEWED_SECONDS,
            "seconds",
            "a service whose tokens expire while people are at work",
        ),
        (
            "refused_though_allowed",
            "longest time after which it is refused again, so that it isn't",
            RENEWED_AGAIN,
            "seconds",
            "a service whose tokens expire after some minutes",
        ),
        (
            "refused_though_allowed",
            "longest time until the next call of a caller, if it is served",
            RENEWED_NEXT,
            "seconds",
            "a page that is left open, and asks for news each 18 minutes",
        ),
        (
            "refused_though_allowed",
            "most times that such a caller is served until it is refused again, so that it isn't",
            RENEWED_BETWEEN,
            "calls",
            "a page that is left open while tokens expire each hour",
        ),
        (
            "refused_though_allowed",
            "smallest part of the calls of a time that are refused, whether or not they are followed so",
            RENEWED_CALLS,
            "of the calls",
            "a newsletter, after which people come back whose tokens have expired",
        ),
        (
            "refused_though_allowed",
            "smallest part of the calls refused with 401 that are followed so",
            RENEWED_PART,
            "of the calls",
            "people who leave when their token expires",
        ),
        (
            "refused_though_allowed",
            "most calls refused with 401 that aren't followed so, if as many are",
            RENEWED_REST,
            "calls",
            "a small service, of which a few people leave when their token expires",
        ),
        ("odd_instance", "fewest calls that failed in one way", ODD_CALLS, "calls", "an instance that was stopped"),
        ("odd_instance", "smallest part of all calls that failed so", ODD_PART, "of the calls", "a service whose instances fail now and then"),
        ("odd_instance", "times the rate of the others", ODD_FACTOR, "times", "an instance that has most of the traffic"),
        ("masked_addresses", "fewest rows of a source since then", MASKED_CALLS, "rows", "an instance that was started late"),
        ("masked_addresses", "smallest part of its rows with a few addresses", MASKED_PART, "of the rows", "a night in which only jobs call"),
        ("masked_addresses", "fewest callers that had other addresses before", MASKED_CALLERS, "callers", "a company that moved behind one address"),
        (
            "masked_addresses",
            "most other addresses in its rows since then",
            MASKED_OTHERS,
            "addresses",
            "an office behind one address, which works through a list of refunds while an instance lives",
        ),
        ("repeated_day", "fewest sampled rows that are equal but for the day", DAY_ROWS, "rows", "a job that runs at the same second each day"),
        ("repeated_day", "smallest part of the rows of the day", DAY_PART, "of the rows", "a job that runs at the same second each day"),
        ("repeated_day", "most days that such a row is in", DAY_COPIES, "days", "a job that runs at the same second each day"),
        ("lost_scope", "fewest callers", LOST_CALLERS, "callers", "two users who changed their department"),
        ("lost_scope", "fewest calls", LOST_CALLS, "calls", "users who try a button once"),
        ("broken_address", "fewest calls without a valid token", BROKEN_CALLS, "calls", "a machine that retries a few times until its key is there"),
        ("broken_address", "shortest time", BROKEN_SECONDS, "seconds", "a rotation of keys, in which workers reload within minutes"),
        ("trial_callers", "fewest callers of one address, each seen for a short time only", TRIAL_CALLERS, "callers", "a developer who tries some clients"),
        ("trial_callers", "longest part of the log in which one is seen", TRIAL_PART, "of the log", "customers behind one address"),
        ("recovered_client", "shortest outage that stays medium after it is over", OUTAGE_SECONDS, "seconds", "a deployment of a quarter of an hour"),
        (
            "stopped_client",
            "fewest failed calls of a client that stopped, for a medium finding",
            STOPPED_CALLS,
            "calls",
            "an employee who tries a feature a day before it is deployed",
        ),
        ("left_client", "or largest rate of calls, of the rate before", LEFT_RATE, "of the rate", "a job of each six hours of a customer who left"),
        ("left_client", "largest part of the calls before", LEFT_PART, "of the calls", "a job of each six hours of a customer who left"),
        ("outage", "smallest part of the calls of a medium one", OUTAGE_PART, "of the calls", "a flaky network, in which clients try again"),
        (
            "outage",
            "shortest outage that is medium if fewer than half of the calls fail",
            ILL_SECONDS,
            "seconds",
            "one of three instances that is ill for minutes, and is replaced",
        ),
        (
            "outage",
            "smallest part of the calls of a medium one that is shorter",
            ILL_PART,
            "of the calls",
            "one of three instances that is ill for minutes, and is replaced",
        ),
        (
            "outage",
            "part of the calls to routes with a scope that fails in a planned maintenance",
            PLANNED_PART,
            "of the calls",
            "a maintenance at night, in which health checks of a public route are answered",
        ),
        ("entries_missing", "fewest served calls after the last entry", ENDS_CALLS, "calls", "an export that is made while calls are in progress"),
        (
            "entries_missing",
            "shortest time between the last entry and the log's end",
            ENDS_SECONDS,
            "seconds",
            "a service in which no call consumes orbs for some minutes",
        ),
        (
            "entries_missing",
            "fewest holds that end without a beginning, later than an hour after the first entry",
            UNHELD,
            "holds",
            "an export whose first holds began before it",
        ),
        ("calls_missing", "fewest holds without a call", LACKING_HOLDS, "holds", "a process that was killed"),
        ("calls_missing", "smallest part of the holds", LACKING_PART, "of the holds", "a service in which callers leave before the answer"),
        ("captures_missing", "fewest calls by account and hour", SUM_CALLS, "calls", "calls at the turn of an hour"),
        ("captures_missing", "smallest part of the calls", SUM_PART, "of the calls", "a service that doesn't charge some calls that failed late"),
        ("other_account", "fewest calls with a hold before a caller has a usual account", ACCOUNT_CALLS, "calls", "a client of several customers"),
        ("other_account", "smallest part of a caller's calls with its usual account", ACCOUNT_PART, "of the calls", "a client of several customers"),
        ("unusual_entries", "fewest other grants", GRANTS, "grants", "a ledger of a few customers"),
        ("unusual_entries", "times the largest other grant", GRANTS_FACTOR, "times", "a customer that buys the largest package"),
        ("unusual_entries", "fewest grants for one account", MANY_GRANTS, "grants", "a customer that buys each day"),
        ("unusual_entries", "times the grants of any other account", MANY_GRANTS_FACTOR, "times", "a customer that buys more often than others"),
        ("unusual_entries", "fewest accounts within an hour, once", MANY_ACCOUNTS, "accounts", "a few customers that are moved to another plan"),
        ("other_price", "fewest captures before and after, or of one account", PRICE_CALLS, "calls", "a discount for a single call"),
        (
            "other_price",
            "smallest part of an account's hours whose difference is that of one route, to name it",
            PRICE_HOURS,
            "of the hours",
            "servers that take over a price one after the other",
        ),
        ("other_price", "smallest part of them with one amount", PRICE_PART, "of the calls", "a route whose handler states amounts by size"),
        *_older(),
    )
    return Rows(Threshold, (Threshold(*row[:2], float(row[2]), *row[3:]) for row in rows))


def _older() -> tuple[tuple[str, str, float, str, str], ...]:
    """The thresholds of the findings about callers, tokens and times, which other modules use too."""
    return (
        ("broken_client", "fewest calls that fail", timelines.FEW, "calls", "a client that fails a few times"),
        ("broken_client", "failed calls that outweigh each other call of the time", timelines.GOOD_WEIGHT, "calls", "a client of which half of the calls fail"),
        ("broken_client", "at most one in so many calls fails before", timelines.RARE, "calls", "a client of which one in twenty calls fails at any time"),
        ("broken_client", "failed calls that are enough, however many failed before", timelines.ENOUGH, "calls", "a client whose tokens expire"),
        ("recovered_client", "fewest good calls after it", timelines.AFTER, "calls", "a client that stops"),
        ("recovered_client", "shortest outage of one client", failures.SHORT, "seconds", "a deployment of some minutes"),
        ("attack", "fewest refused calls within an hour", failures.IN_HOUR, "calls", "users who mistype their password"),
        ("attack", "times the refused calls of an average hour", failures.OUTSTANDING, "times", "a client whose calls are refused all the time"),
        ("attack", "fewest different paths or ids", failures.MANY, "paths", "a client that retries a few calls"),
        ("attack", "fewest different routes", failures.MANY_ROUTES, "routes", "a client with a wrong token, on its few routes"),
        ("outage", "times the usual part of failures", timelines.OUTLYING, "times", "a service of which one in twenty calls fails in a bad hour"),
        ("outage", "fewest failures", spread.FEW_OF_OUTAGE, "calls", "a deployment with some errors"),
        (
            "outage",
            "fewest callers whose tokens are refused, if not those of all",
            spread.FEW_CALLERS,
            "callers",
            "two planned rotations of keys in the same hour",
        ),
        ("outage", "at least one in so many of the calls of each caller", spread.CONCERNED, "calls", "callers whose tokens expire in the same hour"),
        ("probe", "fewest different unknown paths", denials.PROBED_PATHS, "paths", "a browser that asks for icons"),
        ("misconfigured_client", "average gaps without such a call until it has stopped", denials.SILENT_GAPS, "gaps", "a client that pauses at night"),
        ("token_networks", "longest time between calls from two networks", tokens.AT_ONCE.total_seconds(), "seconds", "a phone that leaves the house"),
        ("token_networks", "fewest tokens that make it usual", tokens.FEW_TOKENS, "tokens", "a service whose users are on phones"),
        ("late_tokens", "longest time after the expiry that a clock explains", tokens.CLOCK, "seconds", "a server that keeps answers for some minutes"),
        ("early_expiry", "fewest tokens that were refused after the next ones were used", tokens.TURNED, "tokens", "a client with two tokens"),
        ("changes", "fewest calls on each side of a switch between two policies", switch.FEWEST, "calls", "a test of the next policy"),
        ("warnings", "largest part of the times that are outlying, at each end", 1 / bulk.SHARE, "of the calls", "a pause after the first hour of a log"),
    )

-- POST /v1/tags with a new name each time: the id of the category and what names begin with are arguments.
dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "report.lua")

local number, category, prefix

init = function(arguments)
  number, category, prefix = 0, arguments[1], arguments[2]
  wrk.headers["Content-Type"] = "application/json"
end

request = function()
  number = number + 1
  return wrk.format("POST", nil, nil, string.format('{"category_id": %s, "name": "%s %d"}', category, prefix, number))
end
